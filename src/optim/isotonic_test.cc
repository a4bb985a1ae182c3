// SPDX-License-Identifier: Apache-2.0
#include "optim/isotonic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

std::vector<IsotonicBlock> Singles(const std::vector<double>& values,
                                   const std::vector<double>& weights) {
  std::vector<IsotonicBlock> blocks;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    blocks.push_back(
        {.first = at, .last = at, .sum = values[i] * weights[i], .weight = weights[i]});
  }
  return blocks;
}

// Independent: y_i = max over a <= i of min over b >= i of the mean of a..b.
std::vector<double> MaxMin(const std::vector<double>& y, const std::vector<double>& w) {
  std::vector<double> fit(y.size());
  for (size_t i = 0; i < y.size(); ++i) {
    double best = -INFINITY;
    for (size_t a = 0; a <= i; ++a) {
      double least = INFINITY;
      double sum = 0.0, weight = 0.0;
      for (size_t b = a; b < y.size(); ++b) {
        sum += y[b] * w[b];
        weight += w[b];
        if (b >= i) least = std::min(least, sum / weight);
      }
      best = std::max(best, least);
    }
    fit[i] = best;
  }
  return fit;
}

TEST(PoolAdjacentViolators, AgreesWithTheMaxMinFormula) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, 0);
    std::vector<double> y, w;
    for (int i = 0; i < 40; ++i) {
      y.push_back(0.05 * i + rng.Normal());
      w.push_back(0.1 + rng.Uniform());
    }
    const std::vector<double> expected = MaxMin(y, w);
    int64_t next = 0;
    double previous = -INFINITY;
    for (const IsotonicBlock& block : PoolAdjacentViolators(Singles(y, w))) {
      EXPECT_EQ(block.first, next);
      EXPECT_GT(block.Mean(), previous);
      for (int64_t i = block.first; i <= block.last; ++i) {
        EXPECT_NEAR(block.Mean(), expected[static_cast<size_t>(i)], 1e-12) << seed;
      }
      next = block.last + 1;
      previous = block.Mean();
    }
    EXPECT_EQ(next, 40);
  }
}

TEST(PoolAdjacentViolators, PoolsEqualFrequencies) {
  // 1/3, 2/6, 0/1 of the counts; then 1/1.
  const std::vector<IsotonicBlock> blocks = {{.first = 0, .last = 0, .sum = 1, .weight = 3},
                                             {.first = 1, .last = 1, .sum = 2, .weight = 6},
                                             {.first = 2, .last = 2, .sum = 1, .weight = 1}};
  const std::vector<IsotonicBlock> pooled = PoolAdjacentViolators(blocks);
  ASSERT_EQ(pooled.size(), 2u);
  EXPECT_EQ(pooled[0].weight, 9.0);
  EXPECT_EQ(pooled[1].weight, 1.0);
}

// (0 of 1) becomes 1/4, (1 of 100) becomes 1.5/101: pooled, they are 1.5/102.
TEST(PoolSmoothed, PoolsWhatSmoothingPutsOutOfOrder) {
  const std::vector<IsotonicBlock> blocks = {{.first = 0, .last = 0, .sum = 0, .weight = 1},
                                             {.first = 1, .last = 4, .sum = 1, .weight = 100},
                                             {.first = 5, .last = 5, .sum = 9, .weight = 10}};
  const std::vector<IsotonicBlock> pooled = PoolSmoothed(PoolAdjacentViolators(blocks), 1.0);
  ASSERT_EQ(pooled.size(), 2u);
  EXPECT_EQ(pooled[0].last, 4);
  EXPECT_DOUBLE_EQ(pooled[0].Mean(1.0), 1.5 / 102.0);
  EXPECT_DOUBLE_EQ(pooled[1].Mean(1.0), 9.5 / 11.0);
}

TEST(PoolSmoothed, NeverDecreases) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, 1);
    std::vector<IsotonicBlock> blocks;
    for (int64_t i = 0; i < 60; ++i) {
      const auto n = static_cast<double>(1 + rng.Below(1 + rng.Below(200)));
      const auto k = std::floor(rng.Uniform() * (n + 0.99) * static_cast<double>(i) / 60.0);
      blocks.push_back({.first = i, .last = i, .sum = std::min(k, n), .weight = n});
    }
    double previous = 0.0;
    for (const IsotonicBlock& block : PoolSmoothed(PoolAdjacentViolators(blocks), 1.0)) {
      EXPECT_GE(block.Mean(1.0), previous) << seed;
      previous = block.Mean(1.0);
    }
  }
}

TEST(PoolAdjacentViolators, OfNothingIsNothing) {
  EXPECT_TRUE(PoolAdjacentViolators({}).empty());
  EXPECT_TRUE(PoolSmoothed({}, 1.0).empty());
}

}  // namespace
}  // namespace segcal
