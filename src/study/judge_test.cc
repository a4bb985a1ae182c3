// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "study/recommend.h"
#include "study/results_for_test.h"

namespace segcal {
namespace {

using testing::Pipeline;
using testing::ResultOf;

// Warnings about a choice of the first pipeline, the second being within the error of the best:
// values[pipeline][case] on the test cases.
std::vector<std::string> WarningsOfTest(const std::vector<std::vector<double>>& on_test) {
  // The second is better by 0.1 +- 0.2.
  const EvaluateResult chosen_by = ResultOf({{0.6, 0.8, 2.6, 2.4}, {0, 1, 2, 3}});
  Study study;
  study.pipelines = {Pipeline("none(z)", 0), Pipeline("cms_op(z)", 100)};
  study.recommendation = Recommend(study.pipelines, {&chosen_by}, 1, {});
  EXPECT_EQ(study.recommendation.pipeline, "none(z)");
  study.repeats.push_back({.result = ResultOf(on_test)});
  study.statistics.pipelines.resize(2);
  JudgeRecommendation(&study);
  return study.recommendation.warnings;
}

TEST(JudgeRecommendation, WarnsWhereTheTestCasesClearlyFavourTheBestCandidate) {
  const std::string few = "The choice rests on 4 groups";
  // Better by 1 +- 0.05.
  const auto clear = WarningsOfTest({{1.1, 1.9, 3.1, 3.9}, {0, 1, 2, 3}});
  ASSERT_EQ(clear.size(), 2u);
  EXPECT_NE(clear[0].find("could not tell cms_op(z) from the simpler none(z)"), std::string::npos);
  EXPECT_NE(clear[0].find("nll 1.5000 instead of 2.5000 (difference -1.0000, standard error 0.05"),
            std::string::npos)
      << clear[0];
  EXPECT_EQ(clear[1].substr(0, few.size()), few);
  // By 0.1 +- 0.2, and worse.
  EXPECT_EQ(WarningsOfTest({{0.6, 0.8, 2.6, 2.4}, {0, 1, 2, 3}}).size(), 1u);
  EXPECT_EQ(WarningsOfTest({{0, 1, 2, 3}, {1.1, 1.9, 3.1, 3.9}}).size(), 1u);
  // By 1e-5 +- 0, for certain and of no use.
  EXPECT_EQ(WarningsOfTest({{1.00001, 2.00001, 3.00001, 4.00001}, {1, 2, 3, 4}}).size(), 1u);
}

bool Says(const std::vector<std::string>& warnings, const std::string& text) {
  for (const std::string& warning : warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

// `values` of one metric, then those of another of the same cases.
EvaluateResult WithMetric(EvaluateResult result,
                          const std::string& metric,
                          const std::vector<std::vector<double>>& values) {
  for (size_t p = 0; p < values.size(); ++p) {
    for (size_t c = 0; c < values[p].size(); ++c)
      result.pipelines[p].cases[c].metrics.push_back({metric, values[p][c], {}});
  }
  return result;
}

// A study that recommends the second of three pipelines; `shifted` has the values of a shift.
Study ShiftedStudy(const EvaluateResult& on_test, const EvaluateResult& shifted) {
  const EvaluateResult chosen_by = ResultOf({{3, 3, 3.1}, {1, 1, 1.1}, {2, 2, 2.1}});
  Study study;
  study.pipelines = {
      Pipeline("none(p)", 0), Pipeline("cdc(p)", 90, Preserves::kNone), Pipeline("ts(p)", 1)};
  study.recommendation =
      Recommend(study.pipelines, {&chosen_by}, 1, {.preserves = Preserves::kNone});
  EXPECT_EQ(study.recommendation.pipeline, "cdc(p)");
  study.repeats.push_back({.result = on_test});
  study.statistics.pipelines.resize(3);
  study.shifts.push_back({.name = "rain", .repeats = {shifted}, .statistics = study.statistics});
  return study;
}

TEST(JudgeRecommendation, WarnsWhereTheOrderTurnsUnderAShift) {
  const EvaluateResult home = ResultOf({{3, 3, 3}, {1, 1, 1}, {2, 2, 2}});
  Study turned = ShiftedStudy(home, ResultOf({{3, 3, 3}, {2.5, 2.6, 2.7}, {2, 2, 2}}));
  JudgeRecommendation(&turned);
  EXPECT_TRUE(Says(turned.recommendation.warnings,
                   "turns under the shift \"rain\": ts(p) has a worse nll than cdc(p) on the test "
                   "cases (+1.0000) and a better one there (-0.6000)"));
  Study same = ShiftedStudy(home, home);
  JudgeRecommendation(&same);
  EXPECT_FALSE(Says(same.recommendation.warnings, "turns under"));
}

TEST(JudgeRecommendation, WarnsWhereAMatchedPairTurnsItsSignUnderAShift) {
  const auto pair = [](double estimate) {
    MetricComparison comparison;
    comparison.difference = {"nll", estimate, estimate - 0.1, estimate + 0.1};
    return PairStatistics{.pair = {"cdc(p)", "ts(p)"}, .comparisons = {comparison}};
  };
  const EvaluateResult home = ResultOf({{3, 3, 3}, {1, 1, 1}, {2, 2, 2}});
  for (const double there : {-0.5, 0.5, -0.05}) {
    Study study = ShiftedStudy(home, home);
    study.statistics.pairs = {pair(0.3)};
    study.shifts[0].statistics.pairs = {pair(there)};
    JudgeRecommendation(&study);
    EXPECT_EQ(Says(study.recommendation.warnings,
                   "ts(p) less cdc(p) in nll is +0.3000 on the test cases and -0.5000 there"),
              there == -0.5)
        << there;
  }
}

TEST(JudgeRecommendation, WarnsWhereTheSegmentationSuffers) {
  const std::vector<std::vector<double>> nll = {{3, 3, 3}, {1, 1, 1}, {2, 2, 2}};
  const EvaluateResult home =
      WithMetric(ResultOf(nll), "dsc", {{0.8, 0.8, 0.8}, {0.8, 0.9, 0.8}, {0.8, 0.8, 0.8}});
  const EvaluateResult away =
      WithMetric(ResultOf(nll), "dsc", {{0.8, 0.8, 0.8}, {0.7, 0.72, 0.71}, {0.8, 0.8, 0.8}});
  Study study = ShiftedStudy(home, away);
  JudgeRecommendation(&study);
  EXPECT_TRUE(Says(study.recommendation.warnings,
                   "Under the shift \"rain\" cdc(p) loses 9.00 points of Dice"));
  EXPECT_FALSE(Says(study.recommendation.warnings, "On the test cases cdc(p) loses"));
  Study worse = ShiftedStudy(away, home);
  JudgeRecommendation(&worse);
  EXPECT_TRUE(
      Says(worse.recommendation.warnings, "On the test cases cdc(p) loses 9.00 points of Dice"));
  EXPECT_FALSE(Says(worse.recommendation.warnings, "Under the shift"));
}

TEST(JudgeRecommendation, WarnsWhereMetricsDisagreeAndOfFills) {
  const EvaluateResult home = ResultOf({{3, 3, 3}, {1, 1, 1}, {2, 2, 2}});
  Study study = ShiftedStudy(home, home);
  study.statistics.pipelines[0].intervals = {{"ece", 0.02, 0.01, 0.03}};
  study.statistics.pipelines[1].intervals = {{"ece", 0.03, 0.02, 0.04}};
  study.data.voxels = 1000;
  study.data.repeated = 11;
  JudgeRecommendation(&study);
  EXPECT_TRUE(Says(study.recommendation.warnings,
                   "cdc(p) was chosen by nll, but its ece on the test cases is 0.0300, 0.0200 "
                   "without calibration"));
  EXPECT_TRUE(Says(study.recommendation.warnings, "1.1 % of the voxels repeat"));
}

}  // namespace
}  // namespace segcal
