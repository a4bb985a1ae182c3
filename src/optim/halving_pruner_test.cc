// SPDX-License-Identifier: Apache-2.0
#include "optim/halving_pruner.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

constexpr int64_t kRung = HalvingPruner::kRungs[1];

// At kRung the trials stand at 1, 2, ..., n; one more ended before.
HalvingPruner WithTrials(int n) {
  HalvingPruner pruner;
  for (int t = 1; t <= n; ++t) {
    std::vector<double> best(static_cast<size_t>(kRung), 100.0);
    best.back() = t;
    best.push_back(0.0);
    pruner.AddEnded(best);
  }
  pruner.AddEnded({0.0, 0.0});
  return pruner;
}

TEST(HalvingPruner, KeepsTheBestThirdOfAllThatCameAsFar) {
  const HalvingPruner eight = WithTrials(8);  // with the trial itself nine
  EXPECT_FALSE(eight.ShouldPrune(kRung, 2.9));
  EXPECT_TRUE(eight.ShouldPrune(kRung, 3.1));
  const HalvingPruner seven = WithTrials(7);
  EXPECT_FALSE(seven.ShouldPrune(kRung, 1.9));
  EXPECT_TRUE(seven.ShouldPrune(kRung, 2.1));
}

TEST(HalvingPruner, KeepsTheBestOfTwoAndWhatIsAsGood) {
  EXPECT_FALSE(WithTrials(1).ShouldPrune(kRung, 1.0));
  EXPECT_TRUE(WithTrials(1).ShouldPrune(kRung, 1.1));
}

TEST(HalvingPruner, LetsTheFirstTrialAndOtherEpochsPass) {
  EXPECT_FALSE(HalvingPruner().ShouldPrune(kRung, 1e9));
  EXPECT_FALSE(WithTrials(8).ShouldPrune(kRung - 1, 1e9));
  EXPECT_FALSE(WithTrials(8).ShouldPrune(kRung + 1, 1e9));
}

}  // namespace
}  // namespace segcal
