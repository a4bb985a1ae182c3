// SPDX-License-Identifier: Apache-2.0
#include "stats/mann_whitney.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

using Values = std::vector<double>;

// All three of x below all three of y: one order in C(6, 3) = 20 on either side.
TEST(MannWhitneyU, OfSeparatedSamplesIsTheRarestOrder) {
  const MannWhitneyResult result = MannWhitneyU(Values{1, 2, 3}, Values{4, 5, 6});
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.u, 0.0);
  EXPECT_DOUBLE_EQ(result.p, 2.0 / 20.0);
  EXPECT_DOUBLE_EQ(MannWhitneyU(Values{1, 2, 3}, Values{4, 5, 6}, Alternative::kLess).p, 0.05);
  EXPECT_DOUBLE_EQ(MannWhitneyU(Values{1, 2, 3}, Values{4, 5, 6}, Alternative::kGreater).p, 1.0);
}

// (RT2) by trying every order of 3 and 4 values.
TEST(MannWhitneyU, ExactTailCountsOrders) {
  const Values x = {0.5, 2.5, 5.5};
  const Values y = {1.0, 2.0, 3.0, 4.0};
  const MannWhitneyResult result = MannWhitneyU(x, y, Alternative::kGreater);
  std::vector<int> from_x = {1, 1, 1, 0, 0, 0, 0};
  std::sort(from_x.begin(), from_x.end());
  int orders = 0;
  int as_large = 0;
  do {
    double u = 0.0;
    for (size_t i = 0; i < 7; ++i) {
      for (size_t j = 0; j < i; ++j) u += from_x[i] == 1 && from_x[j] == 0 ? 1.0 : 0.0;
    }
    ++orders;
    as_large += u >= result.u ? 1 : 0;
  } while (std::next_permutation(from_x.begin(), from_x.end()));
  EXPECT_EQ(orders, 35);
  EXPECT_DOUBLE_EQ(result.p, as_large / 35.0);
}

TEST(MannWhitneyU, IsNormalForTiesAndForLargeSamples) {
  EXPECT_FALSE(MannWhitneyU(Values{1, 2, 2}, Values{3, 4}).exact);
  Values x(9);
  Values y(9);
  for (size_t i = 0; i < 9; ++i) {
    x[i] = static_cast<double>(2 * i);
    y[i] = static_cast<double>(2 * i + 1);
  }
  EXPECT_FALSE(MannWhitneyU(x, y).exact);
  x.pop_back();
  EXPECT_TRUE(MannWhitneyU(x, y).exact);
}

TEST(MannWhitneyU, OfEqualValuesFindsNothing) {
  const MannWhitneyResult result = MannWhitneyU(Values{2, 2, 2}, Values{2, 2});
  EXPECT_EQ(result.u, 3.0);
  EXPECT_EQ(result.p, 1.0);
}

TEST(MannWhitneyU, LeavesUndefinedValuesOut) {
  const double nan = std::nan("");
  const MannWhitneyResult result = MannWhitneyU(Values{1, nan, 2, 3}, Values{4, 5, 6, nan});
  EXPECT_DOUBLE_EQ(result.p, 0.1);
  EXPECT_TRUE(std::isnan(MannWhitneyU(Values{nan}, Values{1.0}).p));
  EXPECT_TRUE(std::isnan(MannWhitneyU(Values{}, Values{1.0}).u));
}

// Under the null hypothesis a p-value is at most t with probability at most about t.
TEST(MannWhitneyU, RarelyFindsADifferenceBetweenEqualDistributions) {
  Rng rng(9, 0);
  int found = 0;
  for (int study = 0; study < 2000; ++study) {
    Values x(15);
    Values y(20);
    for (double& value : x) value = rng.Normal();
    for (double& value : y) value = rng.Normal();
    found += MannWhitneyU(x, y).p <= 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(found, 100, 30);  // three standard deviations
}

// Adjusted by hand: p m / k from the largest down, the smallest so far.
TEST(BenjaminiHochberg, StepsUp) {
  const Values adjusted = BenjaminiHochberg(Values{0.04, 0.01, 0.02, 0.9});
  const Values expected = {0.16 / 3.0, 0.04, 0.04, 0.9};
  for (size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]);
}

TEST(BenjaminiHochberg, NeverExceedsOneAndKeepsUndefinedTests) {
  const Values adjusted = BenjaminiHochberg(Values{0.8, std::nan(""), 0.9});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.9);
  EXPECT_TRUE(std::isnan(adjusted[1]));
  EXPECT_DOUBLE_EQ(adjusted[2], 0.9);
  EXPECT_TRUE(BenjaminiHochberg({}).empty());
}

}  // namespace
}  // namespace segcal
