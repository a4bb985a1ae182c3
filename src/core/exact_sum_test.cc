// SPDX-License-Identifier: Apache-2.0
#include "core/exact_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "core/rng.h"

namespace segcal {
namespace {

// Both signs, magnitudes from 2^-40 to 2^40.
std::vector<double> WideTerms(size_t count) {
  Rng rng(/*seed=*/5, /*stream=*/0);
  std::vector<double> terms(count);
  for (double& t : terms) t = std::ldexp(rng.Normal(), static_cast<int>(rng.Below(81)) - 40);
  return terms;
}

uint64_t BitsOf(const ExactSum& sum) { return std::bit_cast<uint64_t>(sum.value()); }

TEST(ExactSum, HasTheSameBitsForAnyOrderAndAnySplit) {
  const std::vector<double> terms = WideTerms(2001);
  ExactSum forward;
  for (const double t : terms) forward.Add(t);
  ExactSum backward;
  for (auto it = terms.rbegin(); it != terms.rend(); ++it) backward.Add(*it);
  EXPECT_EQ(BitsOf(backward), BitsOf(forward));
  for (const size_t parts : {2u, 3u, 7u}) {
    std::vector<ExactSum> sums(parts);
    for (size_t i = 0; i < terms.size(); ++i) sums[i * i % parts].Add(terms[i]);
    ExactSum total;
    for (auto it = sums.rbegin(); it != sums.rend(); ++it) total.Merge(*it);
    EXPECT_EQ(BitsOf(total), BitsOf(forward)) << parts;
  }
}

// The test above could pass on easy terms: plain double sums of these differ.
TEST(ExactSum, IsTestedOnTermsWhoseDoubleSumDependsOnOrder) {
  const std::vector<double> terms = WideTerms(2001);
  double forward = 0.0;
  double backward = 0.0;
  for (const double t : terms) forward += t;
  for (auto it = terms.rbegin(); it != terms.rend(); ++it) backward += *it;
  EXPECT_NE(forward, backward);
}

// Oracle: the same sum in integers.
TEST(ExactSum, EqualsIntegerArithmeticOnMultiplesOfAPowerOfTwo) {
  Rng rng(/*seed=*/6, /*stream=*/0);
  ExactSum sum;
  int64_t expected = 0;
  for (int i = 0; i < 100000; ++i) {
    const int64_t steps = rng.Below(int64_t{1} << 36) - (int64_t{1} << 35);
    expected += steps;
    sum.Add(std::ldexp(static_cast<double>(steps), -40));
  }
  EXPECT_EQ(sum.value(), std::ldexp(static_cast<double>(expected), -40));
}

TEST(ExactSum, KeepsASmallTermBetweenLargeOnes) {
  ExactSum sum;
  for (const double t : {1e15, 0x1p-30, -1e15}) sum.Add(t);
  EXPECT_EQ(sum.value(), 0x1p-30);
}

TEST(ExactSum, AddsNegativeTerms) {
  ExactSum sum;
  for (const double t : {-0.75, -0.5, -0x1p-64}) sum.Add(t);
  EXPECT_EQ(sum.value(), -1.25);
  sum.Add(1.25);
  EXPECT_EQ(sum.value(), -0x1p-64);
}

TEST(ExactSum, RoundsEachTermOnceToItsGrid) {
  ExactSum low;
  low.Add(0x1p-66);
  EXPECT_EQ(low.value(), 0.0);
  ExactSum high;
  high.Add(0x1.8p-65);
  EXPECT_EQ(high.value(), 0x1p-64);
}

// Twin: the whole part, then 2^-64 steps of the rest, each by the C library. Ties of the rounding
// and terms below every step among them.
TEST(ExactSum, RoundsTermsAsTheCLibrary) {
  Rng rng(/*seed=*/7, /*stream=*/0);
  for (int i = 0; i < 100000; ++i) {
    const int64_t bits = int64_t{1} << rng.Below(54);
    const double term = std::ldexp(static_cast<double>(rng.Below(2 * bits) - bits),
                                   static_cast<int>(rng.Below(130)) - 122);
    const double whole = std::trunc(term);
    const double steps = std::nearbyint(std::ldexp(term - whole, 64));
    ExactSum sum;
    sum.Add(term);
    sum.Add(-whole);
    ASSERT_EQ(sum.value(), std::ldexp(steps, -64)) << term;
  }
}

TEST(ExactSum, IsNotANumberForGoodAfterATermOutOfRange) {
  for (const double bad : {0x1p62, -0x1p62, HUGE_VAL, std::nan("")}) {
    ExactSum sum;
    sum.Add(bad);
    sum.Add(1.0);
    EXPECT_TRUE(std::isnan(sum.value())) << bad;
    ExactSum other;
    other.Merge(sum);
    EXPECT_TRUE(std::isnan(other.value())) << bad;
  }
}

TEST(ExactSum, IsNotANumberForGoodAfterTheSumOverflows) {
  ExactSum sum;
  for (const double t : {0x1.8p61, 0x1.8p61}) sum.Add(t);
  EXPECT_EQ(sum.value(), 0x1.8p62);
  sum.Add(0x1.8p61);
  sum.Add(-0x1.8p61);
  EXPECT_TRUE(std::isnan(sum.value()));
}

TEST(ExactSum, MergedWithItselfDoublesPastAnyFloatCounter) {
  ExactSum sum;
  sum.Add(1.0);
  for (int i = 0; i < 40; ++i) sum.Merge(sum);
  EXPECT_EQ(sum.value(), 0x1p40);
  sum.Add(0x1p-20);
  sum.Add(-0x1p40);
  EXPECT_EQ(sum.value(), 0x1p-20);
}

}  // namespace
}  // namespace segcal
