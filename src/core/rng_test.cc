// SPDX-License-Identifier: Apache-2.0
#include "core/rng.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace segcal {
namespace {

// Golden: computed by an independent Python transcription of the formula, with integers of any size
// cut to 64 bits after each step. A change of these numbers changes every sample and split.
TEST(Rng, KeepsItsStreams) {
  struct Golden {
    uint64_t seed, stream, n, value;
  };
  const Golden golden[] = {
      {0, 0, 0, 0x31042cc5515af7ee},
      {0, 0, 1, 0x289303f10adbcab8},
      {0, 0, 1000000000000, 0xdcb191df30bdbc0c},
      {1, 0, 0, 0x3fbba26d636449e0},
      {1, 0, 2, 0x174927dbe271aad7},
      {0, 1, 0, 0x1651159726507bab},
      {0, 1, 1, 0xfa9c81545361abe9},
      {UINT64_MAX, UINT64_MAX, 0, 0xee0169fe7faaf792},
      {UINT64_MAX, UINT64_MAX, 1000000000000, 0xd5d313991ce1a8a5},
  };
  for (const Golden& g : golden) EXPECT_EQ(Rng(g.seed, g.stream).At(g.n), g.value) << g.n;

  EXPECT_EQ(Rng(7, 3).Uniform(), 0.9514974292709688);
  Rng rng(7, 3);
  for (const int64_t expected : {9, 4, 5, 4, 7, 7, 1, 7, 4, 1, 4, 4}) {
    EXPECT_EQ(rng.Below(10), expected);
  }
}

TEST(Rng, DrawsTheNumbersOfItsStreamInOrder) {
  Rng rng(11, 12);
  const Rng at(11, 12);
  for (uint64_t n = 0; n < 100; ++n) EXPECT_EQ(rng.Next(), at.At(n));
  EXPECT_EQ(rng.Uniform(), at.UniformAt(100));
}

TEST(Rng, NeighbouringSeedsAndStreamsShareNoNumbers) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (uint64_t stream = 0; stream < 20; ++stream) {
      const Rng rng(seed, stream);
      for (uint64_t n = 0; n < 20; ++n) seen.insert(rng.At(n));
    }
  }
  EXPECT_EQ(seen.size(), 20u * 20u * 20u);
}

// Pearson's statistic of 255 degrees of freedom: mean 255, standard deviation 22.6; the bounds are
// five of them away.
TEST(Rng, UniformNumbersFillTheirBinsEvenly) {
  constexpr int kBins = 256;
  constexpr int kDraws = 256 * 400;
  for (uint64_t stream = 0; stream < 4; ++stream) {
    Rng rng(1, stream);
    std::vector<int> bins(kBins);
    for (int i = 0; i < kDraws; ++i) {
      const double u = rng.Uniform();
      ASSERT_GT(u, 0.0);
      ASSERT_LT(u, 1.0);
      ++bins[static_cast<size_t>(u * kBins)];
    }
    double statistic = 0.0;
    for (const int count : bins) statistic += (count - 400.0) * (count - 400.0) / 400.0;
    EXPECT_GT(statistic, 255.0 - 5 * 22.6);
    EXPECT_LT(statistic, 255.0 + 5 * 22.6);
  }
}

TEST(Rng, BelowStaysInRangeAndReachesEveryValue) {
  for (const int64_t bound : {1, 2, 3, 7, 100}) {
    Rng rng(2, static_cast<uint64_t>(bound));
    std::set<int64_t> seen;
    for (int i = 0; i < 2000; ++i) {
      const int64_t x = rng.Below(bound);
      ASSERT_GE(x, 0);
      ASSERT_LT(x, bound);
      seen.insert(x);
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), bound);
  }
  Rng rng(3, 0);
  for (int i = 0; i < 1000; ++i) {
    const int64_t x = rng.Below(INT64_MAX);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, INT64_MAX);
  }
}

// Standard errors of n = 1e5 draws: 0.0032 of the mean, 0.0045 of the variance.
TEST(Rng, NormalNumbersHaveMeanZeroAndVarianceOne) {
  Rng rng(4, 0);
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.Normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.016);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.023);
}

}  // namespace
}  // namespace segcal
