// SPDX-License-Identifier: Apache-2.0
#include "optim/median_pruner.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

constexpr int64_t kEpoch = MedianPruner::kWarmUpEpochs + 1;

// At kEpoch the trials stand at 1, 2, ..., n.
MedianPruner WithTrials(int n) {
  MedianPruner pruner;
  for (int t = 1; t <= n; ++t) {
    std::vector<double> best(static_cast<size_t>(kEpoch), 100.0);
    best.back() = t;
    best.push_back(0.0);
    pruner.AddFinished(best);
  }
  return pruner;
}

TEST(MedianPruner, StopsWhatIsAboveTheMedianAtTheSameEpoch) {
  const MedianPruner odd = WithTrials(7);
  EXPECT_FALSE(odd.ShouldPrune(kEpoch, 4.0));
  EXPECT_TRUE(odd.ShouldPrune(kEpoch, 4.1));
  const MedianPruner even = WithTrials(6);
  EXPECT_FALSE(even.ShouldPrune(kEpoch, 3.5));
  EXPECT_TRUE(even.ShouldPrune(kEpoch, 3.6));
}

TEST(MedianPruner, LetsTheFirstTrialsAndTheFirstEpochsPass) {
  EXPECT_FALSE(WithTrials(MedianPruner::kWarmUpTrials - 1).ShouldPrune(kEpoch, 1e9));
  EXPECT_TRUE(WithTrials(MedianPruner::kWarmUpTrials).ShouldPrune(kEpoch, 1e9));
  EXPECT_FALSE(WithTrials(7).ShouldPrune(MedianPruner::kWarmUpEpochs, 1e9));
}

TEST(MedianPruner, TakesTheLastValueOfShorterTrials) {
  MedianPruner pruner;
  for (int t = 0; t < 5; ++t) pruner.AddFinished({3.0, 2.0});
  EXPECT_FALSE(pruner.ShouldPrune(50, 2.0));
  EXPECT_TRUE(pruner.ShouldPrune(50, 2.5));
}

}  // namespace
}  // namespace segcal
