// SPDX-License-Identifier: Apache-2.0
#include "stats/ranking.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace segcal {
namespace {

using Values = std::vector<double>;
const double kUndefined = std::nan("");

TEST(AverageRanks, ShareRanksAmongTies) {
  EXPECT_EQ(AverageRanks(Values{3.0, 1.0, 3.0, 2.0}), (Values{3.5, 1.0, 3.5, 2.0}));
  EXPECT_EQ(AverageRanks(Values{5.0, 5.0, 5.0}), (Values{2.0, 2.0, 2.0}));
  EXPECT_EQ(AverageRanks(Values{-0.0, 0.0}), (Values{1.5, 1.5}));
}

TEST(AverageRanks, PutUndefinedValuesLast) {
  EXPECT_EQ(AverageRanks(Values{kUndefined, 1.0, kUndefined, INFINITY}),
            (Values{3.5, 1.0, 3.5, 2.0}));
}

// Three methods, two cases, worked by hand.
const std::vector<MetricTable> kTables = {
    {.goal = Goal::kLow, .values = {{0.1, 0.5}, {0.2, 0.2}, {0.3, 0.3}}},   // means .3 .2 .3
    {.goal = Goal::kHigh, .values = {{0.9, 0.9}, {0.8, 0.7}, {0.7, 0.8}}},  // means .9 .75 .75
    {.goal = Goal::kZero,
     .values = {{-0.375, 0.125}, {0.125, 0.125}, {0.25, -0.625}}},  // means -1/8 1/8 -3/16
};

TEST(SumRank, AddsTheRanksOfTheMeans) {
  EXPECT_EQ(SumRank(kTables), (Values{2.5 + 1.0 + 1.5, 1.0 + 2.5 + 1.5, 2.5 + 2.5 + 3.0}));
}

TEST(SumRank, GoesByWhatIsGivenForAllCasesTogether) {
  const MetricTable table{
      .goal = Goal::kLow, .values = {{0.1, 0.1}, {0.2, 0.2}}, .overall = {0.7, 0.3}};
  EXPECT_EQ(SumRank({table}), (Values{2.0, 1.0}));
}

TEST(MeanCaseRank, AveragesRanksWithinCases) {
  // Case 1: 1 2 3, 1 2 3, 3 1 2; case 2: 3 1 2, 1 3 2, 1.5 1.5 3.
  const Values ranks = MeanCaseRank(kTables);
  EXPECT_DOUBLE_EQ(ranks[0], (5.0 + 5.5) / 6.0);
  EXPECT_DOUBLE_EQ(ranks[1], (5.0 + 5.5) / 6.0);
  EXPECT_DOUBLE_EQ(ranks[2], (8.0 + 7.0) / 6.0);
}

TEST(SumRank, LeavesUndefinedCasesOutOfMeansAndRanksUndefinedMethodsLast) {
  const std::vector<MetricTable> tables = {
      {.goal = Goal::kLow, .values = {{kUndefined, 0.2}, {0.3, 0.1}, {kUndefined, kUndefined}}}};
  EXPECT_EQ(SumRank(tables), (Values{1.5, 1.5, 3.0}));
}

TEST(Rankings, OfNothingAreEmptyAndOfNoCasesUndefined) {
  EXPECT_TRUE(SumRank({}).empty());
  EXPECT_TRUE(MeanCaseRank({}).empty());
  EXPECT_TRUE(std::isnan(MeanCaseRank({{.goal = Goal::kLow, .values = {{}, {}}}})[0]));
}

TEST(Rankings, RefuseTablesThatDoNotFit) {
  testing::ExpectError(ErrorCode::kInvalidArgument, {"direction"}, [] {
    SumRank({{.goal = Goal::kNone, .values = {{1.0}}}});
  });
  testing::ExpectError(ErrorCode::kInvalidArgument, {"1 methods", "2"}, [] {
    SumRank({{.values = {{1.0}}}, {.values = {{1.0}, {2.0}}}});
  });
  testing::ExpectError(ErrorCode::kInvalidArgument, {"1 cases", "2"}, [] {
    MeanCaseRank({{.values = {{1.0}, {1.0, 2.0}}}});
  });
}

}  // namespace
}  // namespace segcal
