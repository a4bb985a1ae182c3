// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace segcal {

// Neighbours [first, last] of a sequence with one common value.
struct IsotonicBlock {
  int64_t first = 0;
  int64_t last = 0;
  double sum = 0.0;     // of weighted values; for frequencies the number of successes
  double weight = 0.0;  // > 0

  // The mean, drawn towards one half by `prior` trials of which half succeed (IR3).
  double Mean(double prior = 0.0) const noexcept { return (sum + 0.5 * prior) / (weight + prior); }
};

// The non-decreasing sequence nearest to the blocks' means in weighted least squares (and, for
// frequencies, in likelihood): pool adjacent violators, O(n). The blocks returned have strictly
// increasing means.
std::vector<IsotonicBlock> PoolAdjacentViolators(const std::vector<IsotonicBlock>& blocks);

// The same where a block's value is Mean(prior). It moves short blocks more than long ones, which
// can break the order of isotonic blocks: those are pooled. Values returned never decrease.
std::vector<IsotonicBlock> PoolSmoothed(const std::vector<IsotonicBlock>& blocks, double prior);

}  // namespace segcal
