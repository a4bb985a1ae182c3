// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "segcal/tables.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

EvaluateResult SomeResult() {
  EvaluateResult result;
  for (const auto& [name, nll, dsc] :
       {std::tuple("none(z)", 0.5, 0.75), std::tuple("ts(z)", 0.375, 0.75)}) {
    PipelineMetrics& pipeline = result.pipelines.emplace_back();
    pipeline.pipeline = name;
    pipeline.mean = {{"nll", nll, {}}, {"entropy", 0.25, {}}, {"dsc", dsc, {}}, {"mce", 0.1, {}}};
  }
  return result;
}

EvaluateResult WithStatistics() {
  EvaluateResult result = SomeResult();
  Statistics& statistics = result.statistics.emplace();
  statistics.options.reference = "none(z)";
  statistics.ranked = {"nll", "dsc"};
  for (const PipelineMetrics& pipeline : result.pipelines) {
    PipelineStatistics& mine = statistics.pipelines.emplace_back();
    mine.pipeline = pipeline.pipeline;
    for (const MetricValue& metric : pipeline.mean)
      mine.intervals.push_back({metric.name, metric.value, metric.value - 0.125, 1.0});
    mine.sum_rank = 3.0;
    mine.mean_case_rank = 1.5;
  }
  statistics.pipelines[1].comparisons = {
      {.difference = {"nll", -0.125, -0.25, -0.0625}, .p = 0.03125, .p_adjusted = 0.05},
      {.difference = {"dsc", 0.0, -0.25, 0.25}, .p = 1e-9, .p_adjusted = 0.75}};
  return result;
}

std::vector<std::string> NamesOf(const std::vector<MetricColumn>& columns) {
  std::vector<std::string> names;
  for (const MetricColumn& column : columns) names.push_back(column.metric);
  return names;
}

TEST(ShownPipelines, HaveOptionsOnlyWhereTheyTellThemApart) {
  EvaluateResult result;
  result.pipelines.resize(3);
  result.pipelines[0].pipeline = "dc(z, kappa=0.5)";
  result.pipelines[1].pipeline = "ts(z, max_iterations=5)";
  result.pipelines[2].pipeline = "dc(z, kappa=0.25)";
  EXPECT_EQ(ShownPipelines(result),
            (std::vector<std::string>{"dc(z, kappa=0.5)", "ts(z)", "dc(z, kappa=0.25)"}));
}

TEST(MetricColumns, AreTheUsualOnesThatWereComputed) {
  EXPECT_EQ(NamesOf(MetricColumns(SomeResult(), {})), (std::vector<std::string>{"nll", "dsc"}));
  EXPECT_EQ(NamesOf(MetricColumns(SomeResult(), {"mce", "all"})),
            (std::vector<std::string>{"mce", "nll", "dsc"}));
}

TEST(MetricColumns, AreWhatIsNamed) {
  EXPECT_EQ(NamesOf(MetricColumns(SomeResult(), {"mce", "nll", "mce"})),
            (std::vector<std::string>{"mce", "nll"}));
  // A family stands for all of its numbers, as far as they were computed.
  EXPECT_EQ(NamesOf(MetricColumns(SomeResult(), {"scores"})),
            (std::vector<std::string>{"nll", "entropy"}));
}

TEST(MetricsTable, MarksTheBestAndShowsPercentages) {
  const EvaluateResult result = SomeResult();
  EXPECT_EQ(MetricsTable(result, MetricColumns(result, {}), false).ToMarkdown(),
            "| pipeline | NLL ↓ | DSC % ↑ |\n"
            "| :--- | ---: | ---: |\n"
            "| none(z) | 0.5000 | **75.00** |\n"
            "| ts(z) | **0.3750** | **75.00** |\n");
}

TEST(MetricsTable, PutsIntervalsBehindValues) {
  const EvaluateResult result = WithStatistics();
  const Table table = MetricsTable(result, MetricColumns(result, {"nll"}), true);
  EXPECT_EQ(table.ToMarkdown(),
            "| pipeline | NLL ↓ |\n"
            "| :--- | ---: |\n"
            "| none(z) | 0.5000 \\[0.3750, 1.0000\\] |\n"
            "| ts(z) | **0.3750** \\[0.2500, 1.0000\\] |\n");
  EXPECT_EQ(table.ToCsv(), "pipeline,NLL\nnone(z),0.5\nts(z),0.375\n");
}

TEST(StatisticsTable, HasARowPerMetricAndPipeline) {
  const EvaluateResult result = WithStatistics();
  EXPECT_EQ(StatisticsTable(result, MetricColumns(result, {})).ToText(),
            "metric   pipeline   value     95 % interval  difference         95 % interval   "
            "     p  adjusted p\n"
            "-------  --------  ------  ----------------  ----------  --------------------  -"
            "------  ----------\n"
            "NLL ↓    none(z)   0.5000  [0.3750, 1.0000]   reference\n"
            "         ts(z)     0.3750  [0.2500, 1.0000]     -0.1250  [-0.2500, -0.0625] *   "
            "0.0312      0.0500\n"
            "-------  --------  ------  ----------------  ----------  --------------------  -"
            "------  ----------\n"
            "DSC % ↑  none(z)    75.00   [62.50, 100.00]   reference\n"
            "         ts(z)      75.00   [62.50, 100.00]        0.00     [-25.00, 25.00]    <"
            "0.0001      0.7500\n");
}

TEST(StatisticsTable, SaysWhatIsEqualByConstruction) {
  EvaluateResult result = WithStatistics();
  MetricComparison& dsc = result.statistics->pipelines[1].comparisons[1];
  dsc.equal_by_construction = true;
  dsc.p = dsc.p_adjusted = std::nan("");
  EXPECT_EQ(StatisticsTable(result, MetricColumns(result, {"dsc"})).ToMarkdown(),
            "| metric | pipeline | value | 95 % interval | difference | 95 % interval | p | "
            "adjusted p |\n"
            "| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            "| DSC % ↑ | none(z) | 75.00 | \\[62.50, 100.00\\] | reference |  |  |  |\n"
            "|  | ts(z) | 75.00 | \\[62.50, 100.00\\] | 0.00 | equal by construction |  |  |\n");
}

TEST(PairTable, HasARowPerPair) {
  Statistics statistics;
  const MetricComparison nll{.difference = {"nll", -0.125, -0.25, -0.0625}};
  MetricComparison dsc{.difference = {"dsc", 0.0, 0.0, 0.0}};
  dsc.equal_by_construction = true;
  statistics.pairs = {{.pair = {"ms(z, kappa=0.5)", "ms_c(z)", "invariance"}, .comparisons = {nll}},
                      {.pair = {"ms(z)", "dc(z)", "invariance"}, .comparisons = {dsc}}};
  const EvaluateResult result = SomeResult();
  EXPECT_EQ(PairTable(statistics, MetricColumns(result, {})).ToMarkdown(),
            "| family | pair | NLL ↓ | DSC % ↑ |\n| :--- | :--- | ---: | ---: |\n"
            "| invariance | ms(z) → ms_c(z) | -0.1250 \\[-0.2500, -0.0625\\] \\* |  |\n"
            "|  | ms(z) → dc(z) |  | = |\n");
}

TEST(StatisticsTable, OfOnePipelineComparesNothing) {
  EvaluateResult result = WithStatistics();
  result.pipelines.pop_back();
  result.statistics->pipelines.pop_back();
  EXPECT_EQ(StatisticsTable(result, MetricColumns(result, {"nll"})).ToCsv(),
            "metric,pipeline,value,95 % interval\nNLL ↓,none(z),0.5,\"[0.3750, 1.0000]\"\n");
}

TEST(RankTable, ListsBothRanks) {
  EXPECT_EQ(RankTable(WithStatistics()).ToCsv(),
            "pipeline,sum-rank,mean-case-rank\nnone(z),3,1.5\nts(z),3,1.5\n");
}

TEST(PatchTable, ListsTheSweepOfEveryPipeline) {
  EvaluateResult result = SomeResult();
  for (PipelineMetrics& pipeline : result.pipelines)
    pipeline.diagrams = {
        {.kind = DiagramKind::kPatchSweep,
         .rows = {{8, 0.5, 0.75, 0.875, 1.0}, {16, 0.25, 0.5, 0.75, std::nan("")}}}};
  EXPECT_EQ(PatchTable(result).ToCsv(),
            "pipeline,patch,ECE avg,ECE max,MCE avg,MCE max\n"
            "none(z),8,0.5,0.75,0.875,1\nnone(z),16,0.25,0.5,0.75,\n"
            "ts(z),8,0.5,0.75,0.875,1\nts(z),16,0.25,0.5,0.75,\n");
}

TEST(EvaluationTables, AreAllThatThereAreNumbersFor) {
  EvaluateResult result = WithStatistics();
  result.pipelines[0].diagrams = {
      {.kind = DiagramKind::kPatchSweep, .rows = {{8, 0.5, 0.75, 0.875, 1.0}}}};
  const std::vector<MetricColumn> columns = MetricColumns(result, {"nll"});
  const std::vector<Table> tables = EvaluationTables(result, {"nll"});
  ASSERT_EQ(tables.size(), 4u);
  EXPECT_EQ(tables[0].ToCsv(), MetricsTable(result, columns, true).ToCsv());
  EXPECT_EQ(tables[1].ToCsv(), PatchTable(result).ToCsv());
  EXPECT_EQ(tables[2].ToCsv(), StatisticsTable(result, columns).ToCsv());
  EXPECT_EQ(tables[3].ToCsv(), RankTable(result).ToCsv());
  EXPECT_EQ(EvaluationTables(SomeResult()).size(), 1u);
}

TEST(StatisticsTable, NeedsStatisticsAndDoesWithoutSingleNumbers) {
  const EvaluateResult plain = SomeResult();
  testing::ExpectError(ErrorCode::kInvalidArgument, {"no statistics"}, [&] { RankTable(plain); });
  testing::ExpectError(
      ErrorCode::kInvalidArgument, {"no statistics"}, [&] { StatisticsTable(plain, {}); });
  EvaluateResult result = WithStatistics();
  result.statistics->pipelines[1].intervals.clear();
  EXPECT_EQ(MetricsTable(result, MetricColumns(result, {"nll"}), true).ToMarkdown(),
            "| pipeline | NLL ↓ |\n| :--- | ---: |\n| none(z) | 0.5000 \\[0.3750, 1.0000\\] |\n"
            "| ts(z) | **0.3750** – |\n");
}

}  // namespace
}  // namespace segcal
