// SPDX-License-Identifier: Apache-2.0
#include "optim/median_pruner.h"

#include <algorithm>

#include "core/check.h"

namespace segcal {

void MedianPruner::AddFinished(std::vector<double> best_so_far) {
  if (!best_so_far.empty()) finished_.push_back(std::move(best_so_far));
}

bool MedianPruner::ShouldPrune(int64_t epoch, double best_so_far) const {
  SEGCAL_DCHECK(epoch >= 1);
  const size_t n = finished_.size();
  if (static_cast<int64_t>(n) < kWarmUpTrials || epoch <= kWarmUpEpochs) return false;
  std::vector<double> values;
  values.reserve(n);
  for (const std::vector<double>& trial : finished_) {
    values.push_back(trial[std::min(trial.size(), static_cast<size_t>(epoch)) - 1]);
  }
  std::sort(values.begin(), values.end());
  const double median = 0.5 * (values[(n - 1) / 2] + values[n / 2]);
  return best_so_far > median;
}

}  // namespace segcal
