// SPDX-License-Identifier: Apache-2.0
#include "optim/halving_pruner.h"

#include <algorithm>

#include "core/check.h"

namespace segcal {

void HalvingPruner::AddEnded(std::vector<double> best_so_far) {
  ended_.push_back(std::move(best_so_far));
}

bool HalvingPruner::ShouldPrune(int64_t epoch, double best_so_far) const {
  SEGCAL_DCHECK(epoch >= 1);
  if (std::count(std::begin(kRungs), std::end(kRungs), epoch) == 0) return false;
  const auto at = static_cast<size_t>(epoch - 1);
  size_t came = 1;
  size_t better = 0;
  for (const std::vector<double>& trial : ended_) {
    if (trial.size() <= at) continue;
    ++came;
    better += trial[at] < best_so_far ? 1 : 0;
  }
  return better >= std::max<size_t>(1, came / kOneOf);
}

}  // namespace segcal
