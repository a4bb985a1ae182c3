// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "segcal/verify.h"

namespace segcal {

// |sum - 1| of a row in double; infinite if a value is not finite or below 0.
double RowError(std::span<const float> probs);

// Two classes in the wrong order, and by how much.
struct WrongPair {
  int64_t above = 0;  // the class that should be above
  int64_t below = 0;
  double amount = 0.0;
};

// The largest probability of another class where it is not below the winner's.
std::optional<WrongPair> FindRival(std::span<const float> probs, int64_t winner);

// Two classes whose scores differ and whose probabilities differ the other way: of all such pairs
// the one that differs most.
std::optional<WrongPair> FindInversion(std::span<const double> scores,
                                       std::span<const float> probs);

// Counts voxels and violations of one check and keeps the first counter-examples. What it holds
// does not depend on the order of additions and merges.
class Tally {
 public:
  using Place = std::pair<int64_t, int64_t>;  // case, voxel
  explicit Tally(int64_t max_examples) : max_examples_(static_cast<size_t>(max_examples)) {}

  void AddVoxel(double offence) noexcept;
  // Counts a violation; true if it is among the first, and AddExample should follow.
  bool AddViolation(Place place) noexcept;
  void AddExample(Place place, CounterExample example);
  void Merge(const Tally& other);
  void WriteTo(VerifyCheck* check) const;

 private:
  size_t max_examples_;
  int64_t voxels_ = 0;
  int64_t violations_ = 0;
  double worst_ = 0.0;
  std::vector<std::pair<Place, CounterExample>> examples_;  // by place
};

}  // namespace segcal
