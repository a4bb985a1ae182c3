// SPDX-License-Identifier: Apache-2.0
#include "optim/tpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace segcal {
namespace {

const std::vector<SearchDimension> kSpace = {
    {.name = "a", .lower = 1e-6, .upper = 1e-1, .log = true, .zero_share = 0.25},
    {.name = "b", .lower = -2.0, .upper = 2.0}};

// Best at a = 1e-3, b = 0.5.
double Loss(const std::vector<double>& x) {
  const double a = x[0] == 0.0 ? -7.0 : std::log10(x[0]);
  return (a + 3.0) * (a + 3.0) + (x[1] - 0.5) * (x[1] - 0.5);
}

double BestOf(int trials, uint64_t seed, bool learn) {
  TreeParzen tpe(kSpace, seed);
  double best = 1e300;
  for (int t = 0; t < trials; ++t) {
    const std::vector<double> x = tpe.Ask();
    best = std::min(best, Loss(x));
    if (learn) tpe.Tell(x, Loss(x));
  }
  return best;
}

TEST(TreeParzen, StaysInItsSpace) {
  TreeParzen tpe(kSpace, 3);
  int zeros = 0;
  for (int t = 0; t < 300; ++t) {
    const std::vector<double> x = tpe.Ask();
    zeros += x[0] == 0.0 ? 1 : 0;
    EXPECT_TRUE(x[0] == 0.0 || (x[0] >= 1e-6 && x[0] <= 1e-1)) << x[0];
    EXPECT_TRUE(x[1] >= -2.0 && x[1] <= 2.0) << x[1];
    tpe.Tell(x, t % 7 == 0 ? std::nan("") : Loss(x));
  }
  EXPECT_GT(zeros, 0);
}

// Before it has learned, the distribution is the stated one.
TEST(TreeParzen, StartsLogUniformWithItsShareOfZeros) {
  int zeros = 0;
  int small = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    TreeParzen tpe(kSpace, seed);
    const double a = tpe.Ask()[0];
    zeros += a == 0.0 ? 1 : 0;
    small += a > 0.0 && a < 1e-4 ? 1 : 0;
  }
  EXPECT_NEAR(zeros / 2000.0, 0.25, 0.04);
  EXPECT_NEAR(small / 2000.0, 0.75 * 0.4, 0.04);
}

// Of three choices each comes up a third of the time, until one is seen to be better.
TEST(TreeParzen, DrawsChoicesEvenlyAndLearnsTheBest) {
  const std::vector<SearchDimension> space = {{.name = "c", .choices = {10, 20, 50}}};
  int first[3] = {};
  int learned = 0;
  const auto index = [](double c) { return c == 10.0 ? 0 : c == 20.0 ? 1 : 2; };
  for (uint64_t seed = 0; seed < 600; ++seed) {
    TreeParzen tpe(space, seed);
    ++first[index(tpe.Ask()[0])];
    for (int t = 0; t < 30; ++t) {
      const double c = t % 3 == 0 ? 10.0 : t % 3 == 1 ? 20.0 : 50.0;
      tpe.Tell({c}, c == 20.0 ? 1.0 : 2.0);
    }
    learned += tpe.Ask()[0] == 20.0 ? 1 : 0;
  }
  for (const int count : first) EXPECT_NEAR(count / 600.0, 1.0 / 3.0, 0.08);
  EXPECT_EQ(learned, 600);
}

TEST(TreeParzen, IsTheSameForTheSameSeed) {
  EXPECT_EQ(BestOf(40, 5, true), BestOf(40, 5, true));
  EXPECT_NE(BestOf(40, 5, true), BestOf(40, 6, true));
}

// Over many seeds, what it finds is clearly better than random search with the same trials.
TEST(TreeParzen, FindsBetterPointsThanChance) {
  std::vector<double> learned;
  std::vector<double> random;
  for (uint64_t seed = 0; seed < 101; ++seed) {
    learned.push_back(BestOf(50, seed, true));
    random.push_back(BestOf(50, seed, false));
  }
  std::sort(learned.begin(), learned.end());
  std::sort(random.begin(), random.end());
  EXPECT_LT(learned[50], 0.5 * random[50]);
}

}  // namespace
}  // namespace segcal
