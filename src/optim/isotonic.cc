// SPDX-License-Identifier: Apache-2.0
#include "optim/isotonic.h"

namespace segcal {
namespace {

// Appends each block in turn and pools the last two as long as violates(last but one, last).
template <class Violates>
std::vector<IsotonicBlock> Pool(const std::vector<IsotonicBlock>& blocks,
                                const Violates& violates) {
  std::vector<IsotonicBlock> pooled;
  for (const IsotonicBlock& block : blocks) {
    pooled.push_back(block);
    while (pooled.size() > 1 && violates(pooled[pooled.size() - 2], pooled.back())) {
      const IsotonicBlock last = pooled.back();
      pooled.pop_back();
      pooled.back().last = last.last;
      pooled.back().sum += last.sum;
      pooled.back().weight += last.weight;
    }
  }
  return pooled;
}

}  // namespace

std::vector<IsotonicBlock> PoolAdjacentViolators(const std::vector<IsotonicBlock>& blocks) {
  // Products instead of quotients: exact for counts, so that equal frequencies are pooled.
  return Pool(blocks, [](const IsotonicBlock& a, const IsotonicBlock& b) {
    return a.sum * b.weight >= b.sum * a.weight;
  });
}

std::vector<IsotonicBlock> PoolSmoothed(const std::vector<IsotonicBlock>& blocks, double prior) {
  return Pool(blocks, [prior](const IsotonicBlock& a, const IsotonicBlock& b) {
    return a.Mean(prior) > b.Mean(prior);
  });
}

}  // namespace segcal
