// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "segcal/fuse.h"

namespace segcal {

// One way to weigh candidates: a name in list.cc, and a file whose last lines are its descriptor.
struct FusionInfo {
  const char* name;
  const char* summary;
  // Weights at one voxel from the probabilities that each candidate is right there.
  void (*weigh)(std::span<const double> reliability,
                const FuseOptions& options,
                std::span<double> weights) noexcept;
  // Whether the winner needs at least half of all weight; else the voxel is background.
  bool needs_half = false;
};

const std::vector<const FusionInfo*>& Fusions();

// An Error that lists the names if there is none of that name.
const FusionInfo& FindFusion(const std::string& name);

// A candidate says nothing about the voxel.
inline constexpr uint16_t kAbstains = 0xFFFF;

// What decides about one voxel.
struct VoxelVotes {
  std::span<const uint16_t> labels;     // of the candidates, or kAbstains
  std::span<const double> reliability;  // probability that each is right
};

// The label with the largest weight (FU1), ties to the lowest; kAbstains where nobody votes, or
// where the method needs half of the weight and no label has it. One thread at a time.
class Voter {
 public:
  Voter(const FusionInfo& method, const FuseOptions& options, int64_t candidates);
  uint16_t Decide(const VoxelVotes& votes) noexcept;

 private:
  const FusionInfo& method_;
  const FuseOptions& options_;
  // Of those that vote.
  std::vector<uint16_t> labels_;
  std::vector<double> reliability_;
  std::vector<double> weights_;
};

}  // namespace segcal
