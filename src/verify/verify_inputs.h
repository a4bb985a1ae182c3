// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "data/case_reader.h"
#include "data/voxel_block.h"

namespace segcal {

// What a generated row of scores is made to find.
enum class RowKind : uint8_t {
  kRandom,    // anything a network emits
  kNearTies,  // several classes within a few float32 steps of the largest
  kTies,      // many classes exactly equal
  kMerged,    // classes that differ, but not once the maximum is subtracted in float32
  kExtremes,  // impossible classes, overflow, underflow, both sides of the floor
  kGrid,      // multiples of 2^-8 within 64, to which whole offsets add without rounding
};
const char* Name(RowKind kind) noexcept;

// One case of generated predictions: [member][c * kBlockVoxels + v].
struct GeneratedCase {
  int64_t index = 0;
  std::vector<std::vector<float>> members;
  std::vector<RowKind> kinds;  // [v]
};

// What predictions have to look like.
struct InputForm {
  std::vector<std::string> classes;
  InputKind input = InputKind::kLogits;
  Pooling pooling;

  int64_t num_classes() const noexcept { return static_cast<int64_t>(classes.size()); }
};

// Legal predictions by number: case `index` is a function of the seed and the index alone.
class InputGenerator {
 public:
  InputGenerator(InputForm form, uint64_t seed) : form_(std::move(form)), seed_(seed) {}

  // Rows of every kind but kGrid.
  GeneratedCase Mixed(int64_t index) const;
  // Rows of kGrid, as logits.
  GeneratedCase OnGrid(int64_t index) const;
  // Adds to each voxel of each member a whole number within 2^14, exactly.
  GeneratedCase WithOffsets(const GeneratedCase& on_grid) const;

  // A reader over the case's memory, which must outlive it.
  std::unique_ptr<CaseReader> Open(const GeneratedCase& generated) const;

 private:
  // Two members where all are averaged: their mean falls between float32 numbers.
  size_t num_members() const noexcept { return form_.pooling.member < 0 ? 2 : 1; }
  std::vector<std::vector<float>> DrawMixed(RowKind kind, Rng* rng) const;

  InputForm form_;
  uint64_t seed_;
};

}  // namespace segcal
