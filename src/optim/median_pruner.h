// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace segcal {

// Says when a trial of a search is not worth going on with: its best loss so far is above the
// median of what the finished trials had reached by the same epoch (TR9). A finished trial that was
// shorter keeps its last value. The first trials are never stopped, nor are the first epochs of
// any.
class MedianPruner {
 public:
  static constexpr int64_t kWarmUpTrials = 5;
  static constexpr int64_t kWarmUpEpochs = 5;

  // Best loss so far after epochs 1, 2, ... of a trial that was not pruned.
  void AddFinished(std::vector<double> best_so_far);
  bool ShouldPrune(int64_t epoch, double best_so_far) const;

 private:
  std::vector<std::vector<double>> finished_;
};

}  // namespace segcal
