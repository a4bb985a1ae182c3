// SPDX-License-Identifier: Apache-2.0
#include "stats/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/rng.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

const double kNan = std::nan("");

std::vector<double> NormalValues(uint64_t seed, size_t n) {
  Rng rng(seed, 0);
  std::vector<double> values(n);
  for (double& value : values) value = rng.Normal();
  return values;
}

double Deviation(const std::vector<double>& values, double mean) {
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// The bootstrap distribution of a mean has standard deviation s / sqrt(n), nearly normal here. The
// ends are known to 0.006 of it with so many replicates.
TEST(BootstrapMean, OfOneRepeatIsThatOfTheMean) {
  const std::vector<double> values = NormalValues(1, 400);
  const BootstrapInterval interval = BootstrapMean({values}, {.replicates = 200000, .seed = 3});
  const double error = Deviation(values, interval.estimate) / 20.0;
  EXPECT_NEAR(interval.lower, interval.estimate - 1.959964 * error, 0.03 * error);
  EXPECT_NEAR(interval.upper, interval.estimate + 1.959964 * error, 0.03 * error);
  EXPECT_EQ(interval.num_cases, 400);
}

// Two values a, b: the mean of a replicate is a, (a + b) / 2 or b with chances 1/4, 1/2, 1/4.
TEST(BootstrapMean, OfTwoCasesIsTheBinomialDistribution) {
  EXPECT_EQ(BootstrapMean({{0.0, 1.0}}, {.level = 0.40}).lower, 0.5);
  EXPECT_EQ(BootstrapMean({{0.0, 1.0}}, {.level = 0.40}).upper, 0.5);
  EXPECT_EQ(BootstrapMean({{0.0, 1.0}}, {.level = 0.60}).lower, 0.0);
  EXPECT_EQ(BootstrapMean({{0.0, 1.0}}, {.level = 0.60}).upper, 1.0);
}

// Repeats without spread inside: replicates are means of repeats drawn from {0, 3, 6}.
TEST(BootstrapMean, DrawsRepeatsToo) {
  const RepeatedValues values = {{0.0, 0.0, 0.0}, {3.0, 3.0}, {6.0}};
  const BootstrapInterval interval = BootstrapMean(values, {.replicates = 20000});
  EXPECT_DOUBLE_EQ(interval.estimate, 3.0);
  // P(mean = 0) = P(mean = 6) = 1/27 > 2.5 %.
  EXPECT_DOUBLE_EQ(interval.lower, 0.0);
  EXPECT_DOUBLE_EQ(interval.upper, 6.0);
  // P(mean <= 1) = 4/27: an interval of level 0.8 ends inside.
  EXPECT_DOUBLE_EQ(BootstrapMean(values, {.replicates = 20000, .level = 0.80}).lower, 1.0);
}

// A repeat with more cases does not weigh more.
TEST(BootstrapMean, EstimatesTheMeanOverRepeatsOfMeansOverCases) {
  EXPECT_DOUBLE_EQ(BootstrapMean({{1.0, 1.0, 1.0, 1.0}, {2.0}}, {}).estimate, 1.5);
}

TEST(BootstrapMean, LeavesUndefinedCasesAndEmptyRepeatsOut) {
  const RepeatedValues full = {{1.0, 2.0, 5.0}, {2.0, 3.0}};
  const RepeatedValues holes = {{1.0, kNan, 2.0, 5.0}, {kNan}, {2.0, 3.0, kNan}};
  const BootstrapInterval expected = BootstrapMean(full, {.seed = 8});
  const BootstrapInterval found = BootstrapMean(holes, {.seed = 8});
  EXPECT_EQ(found.estimate, expected.estimate);
  EXPECT_EQ(found.lower, expected.lower);
  EXPECT_EQ(found.upper, expected.upper);
  EXPECT_EQ(found.num_cases, 5);
}

// Cases that are drawn together count as one draw: the mean of a replicate is that of the units {0,
// 0} and {3} or one of them twice, with chances 1/2, 1/4, 1/4.
TEST(BootstrapMean, DrawsCasesOfOneUnitTogether) {
  const RepeatedValues values = {{0.0, 3.0, 0.0, kNan}};
  const DrawUnits units = {{7, 2, 7, 5}};
  const BootstrapInterval inner = BootstrapMean(values, {.level = 0.40}, units);
  EXPECT_EQ(inner.estimate, 1.0);
  EXPECT_EQ(inner.lower, 1.0);
  EXPECT_EQ(inner.upper, 1.0);
  EXPECT_EQ(inner.num_cases, 2);
  EXPECT_EQ(BootstrapMean(values, {.level = 0.60}, units).upper, 3.0);
}

// The same cases thrice are no more evidence than once: all repeats have the cases that were drawn,
// 0, 1/2 or 1 on the mean with chances 1/4, 1/2, 1/4. Cases of their own would make 0 rare.
TEST(BootstrapMean, DrawsACaseThatRepeatsShareInAllOfThem) {
  const RepeatedValues values = {{0.0, 1.0}, {0.0, 1.0}, {1.0, 0.0}};
  const DrawUnits shared = {{4, 9}, {4, 9}, {9, 4}};
  const BootstrapInterval inner = BootstrapMean(values, {.level = 0.40}, shared);
  EXPECT_EQ(inner.estimate, 0.5);
  EXPECT_EQ(inner.lower, 0.5);
  EXPECT_EQ(inner.upper, 0.5);
  EXPECT_EQ(BootstrapMean(values, {.level = 0.60}, shared).lower, 0.0);
  EXPECT_EQ(BootstrapMean(values, {.level = 0.60}, shared).upper, 1.0);
  const DrawUnits apart = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_GT(BootstrapMean(values, {.level = 0.60}, apart).lower, 0.0);
  EXPECT_EQ(BootstrapMean(values, {.seed = 3}, apart).lower,
            BootstrapMean(values, {.seed = 3}).lower);
}

TEST(BootstrapMean, HasNoBoundsWithoutASecondCase) {
  const BootstrapInterval one = BootstrapMean({{4.0}}, {});
  EXPECT_EQ(one.estimate, 4.0);
  EXPECT_TRUE(std::isnan(one.lower) && std::isnan(one.upper));
  for (const RepeatedValues& none : {RepeatedValues{}, RepeatedValues{{kNan}, {}}}) {
    EXPECT_TRUE(std::isnan(BootstrapMean(none, {}).estimate));
  }
}

TEST(BootstrapMean, HasTheSameBitsForAnyNumberOfThreadsAndOthersForAnotherSeed) {
  const RepeatedValues values = {NormalValues(1, 50), NormalValues(2, 60), NormalValues(3, 70)};
  const BootstrapInterval one = BootstrapMean(values, {.seed = 5, .num_threads = 1});
  for (const int threads : {2, 5}) {
    const BootstrapInterval other = BootstrapMean(values, {.seed = 5, .num_threads = threads});
    EXPECT_EQ(other.lower, one.lower);
    EXPECT_EQ(other.upper, one.upper);
  }
  EXPECT_NE(BootstrapMean(values, {.seed = 6}).lower, one.lower);
}

// Cases differ much, methods by exactly 0.1: pairing takes the cases out.
TEST(BootstrapPairedDifference, DoesNotSeeWhatCasesShare) {
  const RepeatedValues first = {NormalValues(1, 30)};
  RepeatedValues second = first;
  for (double& value : second[0]) value += 0.125;
  second[0][3] = kNan;
  const BootstrapInterval interval = BootstrapPairedDifference(first, second, {});
  EXPECT_NEAR(interval.estimate, 0.125, 1e-15);
  EXPECT_NEAR(interval.lower, 0.125, 1e-15);
  EXPECT_NEAR(interval.upper, 0.125, 1e-15);
  EXPECT_EQ(interval.num_cases, 29);
}

TEST(BootstrapPairedDifference, RefusesWhatCannotBePaired) {
  testing::ExpectError(ErrorCode::kInvalidArgument, {"2 and 1 repeats"}, [] {
    BootstrapPairedDifference({{1.0}, {1.0}}, {{1.0}}, {});
  });
  testing::ExpectError(ErrorCode::kInvalidArgument, {"2 and 1 cases", "repeat 0"}, [] {
    BootstrapPairedDifference({{1.0, 2.0}}, {{1.0}}, {});
  });
}

TEST(BootstrapStatistic, HandsOverDrawsOfTheRightSizes) {
  std::set<int64_t> repeats;
  const auto statistic = [&](std::span<const CaseDraw> draws) {
    EXPECT_EQ(draws.size(), 2u);
    for (const CaseDraw& draw : draws) {
      repeats.insert(draw.repeat);
      EXPECT_EQ(draw.cases.size(), draw.repeat == 0 ? 3u : 5u);
      for (const int64_t drawn : draw.cases) {
        EXPECT_GE(drawn, 0);
        EXPECT_LT(drawn, draw.repeat == 0 ? 3 : 5);
      }
    }
    return 1.0;
  };
  EXPECT_EQ(BootstrapStatistic({3, 5}, statistic, {.replicates = 100}).upper, 1.0);
  EXPECT_EQ(repeats, (std::set<int64_t>{0, 1}));
}

TEST(BootstrapStatistic, RefusesMeaninglessOptions) {
  const auto one = [](std::span<const CaseDraw>) { return 1.0; };
  const auto refused = [&](const BootstrapOptions& options, const char* part) {
    testing::ExpectError(
        ErrorCode::kInvalidArgument, {part}, [&] { BootstrapStatistic({2}, one, options); });
  };
  refused({.replicates = 0}, "0 replicates");
  refused({.level = 1.0}, "level 1");
  refused({.level = std::nan("")}, "level nan");
  testing::ExpectError(ErrorCode::kInvalidArgument, {"0 cases"}, [&] {
    BootstrapStatistic({2, 0}, one, {});
  });
}

}  // namespace
}  // namespace segcal
