// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "segcal/evaluate.h"
#include "stats/bootstrap.h"
#include "stats/mann_whitney.h"
#include "stats/wilcoxon.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;
using Values = std::vector<double>;

const Values kNllBefore = {0.5, 0.7, 0.6, 0.9, 0.4};
const Values kNllAfter = {0.4, 0.5, 0.7, 0.6, 0.35};
const Values kDscBefore = {0.8, 0.7, std::nan(""), 0.6, 0.9};
const Values kDscAfter = {0.8, 0.75, 0.5, 0.65, 0.9};

double Mean(const Values& values) {
  double sum = 0.0;
  double count = 0.0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    count += 1.0;
  }
  return sum / count;
}

Values Differences(const Values& before, const Values& after) {
  Values differences = after;
  for (size_t i = 0; i < after.size(); ++i) differences[i] -= before[i];
  return differences;
}

PipelineMetrics Pipeline(const std::string& name, const Values& nll, const Values& dsc) {
  PipelineMetrics pipeline;
  pipeline.pipeline = name;
  pipeline.mean = {{"nll", Mean(nll), {}}, {"dsc", Mean(dsc), {}}, {"entropy", 0.3, {}}};
  pipeline.pooled = pipeline.mean;
  for (size_t i = 0; i < nll.size(); ++i) {
    CaseMetrics& c = pipeline.cases.emplace_back();
    c.id = std::to_string(i);
    c.metrics = {{"nll", nll[i], {}}, {"dsc", dsc[i], {}}, {"entropy", 0.3, {}}};
  }
  return pipeline;
}

EvaluateResult TwoPipelines() {
  EvaluateResult result;
  result.pipelines = {Pipeline("none(z)", kNllBefore, kDscBefore),
                      Pipeline("ts(z)", kNllAfter, kDscAfter)};
  return result;
}

Statistics Compute(const EvaluateResult& result, const StatisticsOptions& options = {}) {
  return ComputeStatistics({&result, 1}, options);
}

TEST(Statistics, IntervalsAreThoseOfTheBootstrapOfEveryMetric) {
  const Statistics statistics = Compute(TwoPipelines(), {.replicates = 300, .seed = 4});
  EXPECT_EQ(statistics.unit, "case");
  EXPECT_EQ(statistics.units, 5);
  const std::vector<MetricInterval>& found = statistics.pipelines[0].intervals;
  ASSERT_EQ(found.size(), 3u);
  const BootstrapOptions options{.replicates = 300, .seed = 4};
  const Values* values[] = {&kNllBefore, &kDscBefore};
  for (size_t m = 0; m < 2; ++m) {
    const BootstrapInterval expected = BootstrapMean({*values[m]}, options);
    EXPECT_DOUBLE_EQ(found[m].estimate, expected.estimate);
    EXPECT_EQ(found[m].lower, expected.lower);
    EXPECT_EQ(found[m].upper, expected.upper);
  }
}

TEST(Statistics, ComparesWithTheReferenceByMetricsThatHaveABestValue) {
  const Statistics statistics = Compute(TwoPipelines(), {.replicates = 300, .seed = 4});
  EXPECT_EQ(statistics.options.reference, "none(z)");
  EXPECT_EQ(statistics.options.metrics, (std::vector<std::string>{"nll", "dsc"}));
  EXPECT_TRUE(statistics.pipelines[0].comparisons.empty());
  const std::vector<MetricComparison>& found = statistics.pipelines[1].comparisons;
  ASSERT_EQ(found.size(), 2u);
  const BootstrapInterval expected =
      BootstrapPairedDifference({kNllBefore}, {kNllAfter}, {.replicates = 300, .seed = 4});
  EXPECT_DOUBLE_EQ(found[0].difference.estimate, expected.estimate);
  EXPECT_EQ(found[0].difference.lower, expected.lower);
  // Better in four of five cases, ranks 2, 4 (of either sign), 5, 1 of the sizes.
  EXPECT_EQ(found[0].p, WilcoxonSignedRank(Differences(kNllBefore, kNllAfter)).p);
  EXPECT_EQ(found[0].better, 4);
  EXPECT_EQ(found[0].worse, 1);
  EXPECT_EQ(found[1].better, 2);
  EXPECT_EQ(found[1].worse, 0);
  const Values adjusted = BenjaminiHochberg(Values{found[0].p, found[1].p});
  EXPECT_EQ(found[0].p_adjusted, adjusted[0]);
  EXPECT_EQ(found[1].p_adjusted, adjusted[1]);
}

// What makes a case hard for both hides the gain from a test of unpaired values.
TEST(Statistics, FindTheGainOfEveryCaseWhereCasesDifferMore) {
  Values before;
  Values after;
  for (int i = 0; i < 14; ++i) {
    before.push_back(0.1 * (i + 1));
    after.push_back(before.back() - 0.001 * (i + 1));
  }
  EvaluateResult result;
  result.pipelines = {Pipeline("none(z)", before, before), Pipeline("ts(z)", after, before)};
  const MetricComparison paired = Compute(result).pipelines[1].comparisons[0];
  EXPECT_EQ(paired.p, std::ldexp(1.0, -13));
  EXPECT_TRUE(ExcludesZero(paired.difference));
  EXPECT_EQ(paired.better, 14);
  const Statistics unpaired = Compute(result, {.test = RankTest::kMannWhitney});
  EXPECT_EQ(unpaired.options.test, RankTest::kMannWhitney);
  EXPECT_EQ(unpaired.pipelines[1].comparisons[0].p, MannWhitneyU(after, before).p);
  EXPECT_GT(unpaired.pipelines[1].comparisons[0].p, 0.5);
}

// none(z) and ts(z) declare to keep the decision.
EvaluateResult Preserving(const Values& dsc) {
  EvaluateResult result;
  result.pipelines = {Pipeline("none(z)", kNllBefore, kDscBefore),
                      Pipeline("ts(z)", kNllAfter, dsc)};
  for (PipelineMetrics& pipeline : result.pipelines)
    pipeline.properties.preserves = Preserves::kOrder;
  return result;
}

TEST(Statistics, TakeNoTestOfWhatIsEqualByConstruction) {
  const Statistics statistics = Compute(Preserving(kDscBefore));
  const std::vector<MetricComparison>& found = statistics.pipelines[1].comparisons;
  EXPECT_FALSE(found[0].equal_by_construction);
  EXPECT_TRUE(found[1].equal_by_construction);
  EXPECT_TRUE(std::isnan(found[1].p) && std::isnan(found[1].p_adjusted));
  EXPECT_EQ(found[1].difference.estimate, 0.0);
  EXPECT_EQ(found[0].p_adjusted, found[0].p) << "one test is none to adjust for";
  EXPECT_EQ(statistics.ranked, std::vector<std::string>{"nll"});
  EXPECT_EQ(statistics.pipelines[0].sum_rank, 2.0);
}

TEST(Statistics, CompareWhatIsEqualButWasNotDeclaredSo) {
  for (const auto& change : std::vector<void (*)(EvaluateResult*)>{
           [](EvaluateResult* r) { r->pipelines[1].properties.preserves = Preserves::kNone; },
           [](EvaluateResult* r) { r->pipelines[1].pipeline = "ts(p)"; }}) {
    EvaluateResult result = Preserving(kDscBefore);
    change(&result);
    const Statistics statistics = Compute(result);
    EXPECT_FALSE(statistics.pipelines[1].comparisons[1].equal_by_construction);
    EXPECT_EQ(statistics.pipelines[1].comparisons[1].p, 1.0);
    EXPECT_EQ(statistics.ranked.size(), 2u);
  }
}

// Were a declaration wrong, it must not hide what was measured.
TEST(Statistics, CompareWhatDiffersAlthoughItWasDeclaredEqual) {
  const Statistics statistics = Compute(Preserving(kDscAfter));
  EXPECT_FALSE(statistics.pipelines[1].comparisons[1].equal_by_construction);
  EXPECT_FALSE(std::isnan(statistics.pipelines[1].comparisons[1].p));
}

// No pipeline that keeps the decision has flips, whatever its pooling.
TEST(Statistics, KnowThatFlipsDoNotDependOnThePooling) {
  EvaluateResult result = Preserving(kDscBefore);
  result.pipelines[1].pipeline = "ts(p)";
  for (PipelineMetrics& pipeline : result.pipelines) {
    pipeline.mean[1].name = pipeline.pooled[1].name = "flip_rate";
    for (CaseMetrics& c : pipeline.cases) c.metrics[1] = {"flip_rate", 0.0, {}};
  }
  EXPECT_TRUE(Compute(result).pipelines[1].comparisons[1].equal_by_construction);
}

TEST(Statistics, ComparePairsByThemselves) {
  EvaluateResult result = TwoPipelines();
  result.pipelines.push_back(Pipeline("dc(z, kappa=0.5)", kNllBefore, kDscAfter));
  const Statistics statistics = Compute(
      result,
      {.metrics = {"nll"}, .pairs = {{"ts(z)", "dc(z)", "expressive"}, {" none( z ) ", "ts(z)"}}});
  ASSERT_EQ(statistics.pairs.size(), 2u);
  EXPECT_EQ(statistics.pairs[0].pair.second, "dc(z, kappa=0.5)");
  EXPECT_EQ(statistics.pairs[0].pair.family, "expressive");
  EXPECT_EQ(statistics.options.pairs[1].first, "none(z)");
  const MetricComparison& forth = statistics.pairs[0].comparisons[0];
  const MetricComparison& back = statistics.pairs[1].comparisons[0];
  EXPECT_DOUBLE_EQ(forth.difference.estimate, -back.difference.estimate);
  EXPECT_EQ(back.difference.lower, statistics.pipelines[1].comparisons[0].difference.lower);
  // The same p twice: the adjustment is that of two tests, not of those with the reference too.
  EXPECT_EQ(forth.p, back.p);
  EXPECT_EQ(forth.p_adjusted, forth.p);
  ExpectError(ErrorCode::kInvalidArgument, {"pair vs(z)", "0 of the pipelines"}, [&] {
    Compute(result, {.pairs = {{"vs(z)", "ts(z)"}}});
  });
}

TEST(RankTest, HasNames) {
  for (const RankTest test : {RankTest::kWilcoxon, RankTest::kMannWhitney})
    EXPECT_EQ(ParseRankTest(Name(test)), test);
  ExpectError(ErrorCode::kInvalidArgument, {"t_test", "wilcoxon", "mann_whitney"}, [] {
    ParseRankTest("t_test");
  });
}

TEST(Statistics, RanksByTheNumbersReported) {
  const Statistics statistics = Compute(TwoPipelines());
  // ts(z) has the lower mean NLL and, without the case that is undefined before, not the higher
  // mean DSC: 0.72 against 0.75.
  EXPECT_EQ(statistics.pipelines[0].sum_rank, 2.0 + 1.0);
  EXPECT_EQ(statistics.pipelines[1].sum_rank, 1.0 + 2.0);
  // NLL: better in four of five cases. DSC: equal in two, better in two, undefined before in one.
  EXPECT_DOUBLE_EQ(statistics.pipelines[1].mean_case_rank,
                   (4 * 1.0 + 2.0 + 2 * 1.5 + 3 * 1.0) / 10.0);
}

TEST(Statistics, TakesTheReferenceAndTheMetricsThatAreNamed) {
  const Statistics statistics =
      Compute(TwoPipelines(), {.metrics = {"dsc"}, .reference = " ts( z ) "});
  EXPECT_EQ(statistics.options.reference, "ts(z)");
  EXPECT_TRUE(statistics.pipelines[1].comparisons.empty());
  ASSERT_EQ(statistics.pipelines[0].comparisons.size(), 1u);
  EXPECT_EQ(statistics.pipelines[0].comparisons[0].difference.metric, "dsc");
}

TEST(ReferenceIndex, NeedsOptionsOnlyToTellPipelinesApart) {
  const std::vector<std::string> pipelines = {"none(z)", "dc(z, kappa=0.1)", "dc(p, kappa=0.1)"};
  EXPECT_EQ(ReferenceIndex(pipelines, ""), 0u);
  EXPECT_EQ(ReferenceIndex(pipelines, "dc(p)"), 2u);
  EXPECT_EQ(ReferenceIndex(pipelines, "dc(kappa=0.1)"), 1u);
  const std::vector<std::string> twins = {"dc(z, kappa=0.1)", "dc(z, kappa=0.2)"};
  EXPECT_EQ(ReferenceIndex(twins, "dc(z, kappa=0.2)"), 1u);
  ExpectError(
      ErrorCode::kInvalidArgument, {"2 of the pipelines"}, [&] { ReferenceIndex(twins, "dc(z)"); });
}

TEST(Statistics, RefusesWhatIsNotThere) {
  EvaluateResult twins = TwoPipelines();
  twins.pipelines[1].pipeline = "none(z)";
  ExpectError(ErrorCode::kInvalidArgument, {"ts(p)", "0 of the pipelines", "none(z), ts(z)"}, [] {
    Compute(TwoPipelines(), {.reference = "ts(p)"});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"2 of the pipelines"}, [&] {
    Compute(twins, {.reference = "none(z)"});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"ece was not computed"}, [] {
    Compute(TwoPipelines(), {.metrics = {"ece"}});
  });
  const std::vector<EvaluateResult> repeats = {TwoPipelines(), twins};
  ExpectError(ErrorCode::kInvalidArgument, {"repeat 1 has the pipelines none(z), none(z)"}, [&] {
    ComputeStatistics(repeats);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"no repeat"}, [] { ComputeStatistics({}); });
}

TEST(Statistics, DrawsRepeatsThenCases) {
  EvaluateResult second = TwoPipelines();
  for (CaseMetrics& c : second.pipelines[0].cases) c.metrics[0].value += 0.25;
  second.pipelines[0].mean[0].value += 0.25;
  const std::vector<EvaluateResult> repeats = {TwoPipelines(), second};
  const Statistics statistics = ComputeStatistics(repeats, {.seed = 9});
  EXPECT_EQ(statistics.repeats, 2);
  EXPECT_EQ(statistics.units, 10);
  Values shifted = kNllBefore;
  for (double& value : shifted) value += 0.25;
  // The same cases in both.
  const BootstrapInterval expected =
      BootstrapMean({kNllBefore, shifted}, {.seed = 9}, {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}});
  EXPECT_DOUBLE_EQ(statistics.pipelines[0].intervals[0].estimate, expected.estimate);
  EXPECT_EQ(statistics.pipelines[0].intervals[0].lower, expected.lower);
}

// The cases of a repeat are those of the others: more repeats are no more evidence.
TEST(Statistics, RankTestsSeeACaseOnce) {
  const std::vector<EvaluateResult> repeats = {TwoPipelines(), TwoPipelines(), TwoPipelines()};
  const Statistics once = Compute(TwoPipelines());
  const Statistics thrice = ComputeStatistics(repeats, {});
  const MetricComparison& found = thrice.pipelines[1].comparisons[0];
  EXPECT_EQ(found.p, once.pipelines[1].comparisons[0].p);
  EXPECT_EQ(found.better, 4);
}

TEST(Statistics, DrawsGroupsWhereCasesNameThem) {
  EvaluateResult result = TwoPipelines();
  for (PipelineMetrics& pipeline : result.pipelines) {
    for (const size_t c : {0u, 2u, 3u}) pipeline.cases[c].group = "patient";
  }
  const Statistics statistics = Compute(result, {.seed = 2});
  EXPECT_EQ(statistics.unit, "group");
  EXPECT_EQ(statistics.units, 3);
  const BootstrapInterval expected = BootstrapMean({kNllBefore}, {.seed = 2}, {{0, 1, 0, 0, 4}});
  EXPECT_EQ(statistics.pipelines[0].intervals[0].lower, expected.lower);
  EXPECT_EQ(statistics.pipelines[0].intervals[0].upper, expected.upper);
  // The patient counts once, with the mean of its cases.
  const Values d = Differences(kNllBefore, kNllAfter);
  EXPECT_EQ(statistics.pipelines[1].comparisons[0].p,
            WilcoxonSignedRank(Values{(d[0] + d[2] + d[3]) / 3.0, d[1], d[4]}).p);
  EXPECT_EQ(statistics.pipelines[1].comparisons[0].better, 3);
}

Diagram OneBin(double count, double correct, double confidence_sum) {
  return {.kind = DiagramKind::kReliability,
          .about = "ace",
          .rows = {{0.0, 1.0, count, correct, confidence_sum}}};
}

// Two cases of one bin each: gaps 0.3 and 0.1 in one bin over 4 and 1 voxels.
EvaluateResult PooledResult(double second_confidence) {
  EvaluateResult result;
  PipelineMetrics& pipeline = result.pipelines.emplace_back();
  pipeline.pipeline = "none(z)";
  pipeline.mean = pipeline.pooled = {{"ace", 0.26, {}}};
  pipeline.cases.resize(2);
  for (CaseMetrics& c : pipeline.cases) c.metrics = {{"ace", 0.2, {}}};
  pipeline.cases[0].pooled_bins = {OneBin(4, 2, 3.2)};
  pipeline.cases[1].pooled_bins = {OneBin(1, 1, second_confidence)};
  return result;
}

// Draws are both, or one of them twice, with chances 1/2, 1/4, 1/4; sums of bins come before gaps.
TEST(Statistics, OfPooledMetricsComeFromTheBinsOfCases) {
  const EvaluateResult result = PooledResult(0.9);
  const MetricInterval inner = Compute(result, {.level = 0.4}).pipelines[0].intervals[0];
  EXPECT_EQ(inner.estimate, 0.26);
  EXPECT_NEAR(inner.lower, std::fabs(3.2 + 0.9 - 3.0) / 5.0, 1e-15);
  EXPECT_NEAR(inner.upper, std::fabs(3.2 + 0.9 - 3.0) / 5.0, 1e-15);
  const MetricInterval outer = Compute(result, {.level = 0.6}).pipelines[0].intervals[0];
  EXPECT_NEAR(outer.lower, 0.1, 1e-15);
  EXPECT_NEAR(outer.upper, 0.3, 1e-15);
}

TEST(Statistics, OfPooledMetricsLeaveOutCasesWithoutLabelledVoxels) {
  EvaluateResult result = PooledResult(0.9);
  CaseMetrics& ignored = result.pipelines[0].cases.emplace_back();
  ignored.metrics = {{"ace", std::nan(""), {}}};
  ignored.pooled_bins = {OneBin(0, 0, 0.0)};
  const auto interval = [](const EvaluateResult& of) {
    return Compute(of, {.level = 0.6}).pipelines[0].intervals[0];
  };
  EXPECT_EQ(interval(result).lower, interval(PooledResult(0.9)).lower);
  EXPECT_EQ(interval(result).upper, interval(PooledResult(0.9)).upper);
  result.pipelines[0].cases.erase(result.pipelines[0].cases.begin());
  EXPECT_TRUE(std::isnan(interval(result).lower)) << "one case alone has no interval";
}

TEST(Statistics, DifferencesOfPooledMetricsShareTheirDraws) {
  EvaluateResult result = PooledResult(0.9);
  result.pipelines.push_back(PooledResult(0.8).pipelines[0]);
  result.pipelines[1].pipeline = "ts(z)";
  // Gap of the second case 0.1 or 0.2: pooled (1.1 and 1.0) / 5, alone 0.1 and 0.2, else no change.
  const MetricInterval difference =
      Compute(result, {.level = 0.6}).pipelines[1].comparisons[0].difference;
  EXPECT_NEAR(difference.estimate, -0.02, 1e-15);
  EXPECT_NEAR(difference.lower, -0.02, 1e-15);
  EXPECT_NEAR(difference.upper, 0.1, 1e-15);
}

TEST(Statistics, OfOneCaseHaveNoBounds) {
  EvaluateResult result;
  result.pipelines = {Pipeline("none(z)", {0.5}, {0.8})};
  const MetricInterval interval = Compute(result).pipelines[0].intervals[0];
  EXPECT_EQ(interval.estimate, 0.5);
  EXPECT_TRUE(std::isnan(interval.lower) && std::isnan(interval.upper));
}

TEST(Statistics, HaveTheSameBytesForAnyNumberOfThreads) {
  const auto text = [](int threads) {
    return ToJson(Compute(TwoPipelines(), {.threads = threads}));
  };
  EXPECT_EQ(text(3), text(1));
}

}  // namespace
}  // namespace segcal
