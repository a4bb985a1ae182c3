// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/entropy_threshold.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

std::vector<double> OneTo(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

// numpy.quantile(values, 1 - alpha, method="higher") of 1..n.
TEST(MisCoverageThreshold, IsTheHigherQuantile) {
  EXPECT_EQ(MisCoverageThreshold(OneTo(21), 0.05), 20.0);
  EXPECT_EQ(MisCoverageThreshold(OneTo(22), 0.05), 21.0);
  EXPECT_EQ(MisCoverageThreshold(OneTo(500), 0.05), 476.0);
  EXPECT_EQ(MisCoverageThreshold(OneTo(10), 0.0), 10.0);
  EXPECT_EQ(MisCoverageThreshold(OneTo(10), 1.0), 1.0);
  EXPECT_EQ(MisCoverageThreshold({3.0}, 0.05), 3.0);
}

// 100 voxels of entropy 1..100 in 20 bins of five; from the eleventh bin on every fifth is wrong,
// so bin 10 + j has the cumulative accuracy (50 + 4 j) / (50 + 5 j) and the mean 5 (10 + j) - 2.
std::vector<HeldVoxel> Staircase() {
  std::vector<HeldVoxel> held;
  for (int i = 1; i <= 100; ++i) {
    held.push_back(
        {.priority = 0, .entropy = static_cast<double>(i), .correct = i <= 50 || i % 5 != 0});
  }
  return held;
}
double AccuracyAt(int j) { return (50.0 + 4.0 * j) / (50.0 + 5.0 * j); }

TEST(FindAccuracyThreshold, FollowsTheCurveOfTheBins) {
  for (const int j : {1, 5, 9}) {
    const AccuracyThreshold found = FindAccuracyThreshold(Staircase(), AccuracyAt(j));
    ASSERT_TRUE(found.gamma.has_value()) << j;
    EXPECT_NEAR(*found.gamma, 5.0 * (10 + j) - 2.0, 1e-9) << j;
    EXPECT_FALSE(found.reached.has_value());
  }
  const double between = 0.5 * (AccuracyAt(3) + AccuracyAt(4));
  EXPECT_NEAR(*FindAccuracyThreshold(Staircase(), between).gamma, 5.0 * 13.5 - 2.0, 1e-9);
}

// The first ten bins all have accuracy 1: one point, at the mean of their mean entropies.
TEST(FindAccuracyThreshold, AveragesBinsOfEqualAccuracy) {
  EXPECT_NEAR(*FindAccuracyThreshold(Staircase(), 1.0).gamma, 25.5, 1e-9);
}

TEST(FindAccuracyThreshold, NeedsNoneWhereAllAreAccurateEnough) {
  EXPECT_FALSE(FindAccuracyThreshold(Staircase(), 0.9).gamma.has_value());
  EXPECT_FALSE(FindAccuracyThreshold(Staircase(), 0.0).gamma.has_value());
}

TEST(FindAccuracyThreshold, SaysWhatIsReachedWhereNothingIsEnough) {
  std::vector<HeldVoxel> held = Staircase();
  for (HeldVoxel& voxel : held) voxel.correct = static_cast<int>(voxel.entropy) % 2 == 0;
  const AccuracyThreshold found = FindAccuracyThreshold(held, 0.99);
  ASSERT_TRUE(found.gamma.has_value());
  ASSERT_TRUE(found.reached.has_value());
  EXPECT_LT(*found.reached, 0.6);
}

TEST(FindAccuracyThreshold, TakesEqualEntropiesTogether) {
  std::vector<HeldVoxel> held(40, {.priority = 0, .entropy = 0.5, .correct = true});
  for (size_t i = 0; i < 30; ++i) held[i].correct = false;
  const AccuracyThreshold found = FindAccuracyThreshold(held, 0.5);
  EXPECT_EQ(found.gamma, 0.5);
  EXPECT_EQ(found.reached, 0.25);
}

}  // namespace
}  // namespace segcal
