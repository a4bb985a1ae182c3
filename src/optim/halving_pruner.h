// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace segcal {

// Says when a trial of a search is not worth going on with, by successive halving as trials come
// (TR9): at a few epochs, its best loss so far must be among the best third of all trials that came
// as far, itself included. The first trial is never stopped.
class HalvingPruner {
 public:
  // About 2.5 apart. On the networks' logits that the rule was chosen on, later rungs find the same
  // trials with a fifth more epochs; a rung at the first epoch loses some.
  static constexpr int64_t kRungs[] = {2, 5, 12, 30};
  static constexpr size_t kOneOf = 3;

  // Best loss so far after epochs 1, 2, ... of a trial that has ended, however it did.
  void AddEnded(std::vector<double> best_so_far);
  bool ShouldPrune(int64_t epoch, double best_so_far) const;

 private:
  std::vector<std::vector<double>> ended_;
};

}  // namespace segcal
