// SPDX-License-Identifier: Apache-2.0
// The tables of a study are laid out like those of the papers.
#include "segcal/study_tables.h"

#include <gtest/gtest.h>

#include "pipeline/metric_sets.h"
#include "pipeline/spec.h"

namespace segcal {
namespace {

constexpr const char* kPipelines[] = {"none(z)", "ms(z)", "ts(z)", "lts(z)"};

// Two cases, whose values are `base` more or less a tenth; pipelines get worse by one each.
EvaluateResult ResultOf(double base, const std::vector<std::string>& metrics) {
  EvaluateResult result;
  for (const char* name : kPipelines) {
    const auto worse = static_cast<double>(result.pipelines.size());
    PipelineMetrics& pipeline = result.pipelines.emplace_back();
    pipeline.pipeline = name;
    for (const double off : {-0.1, 0.1}) {
      CaseMetrics& c = pipeline.cases.emplace_back();
      c.id = off < 0.0 ? "a" : "b";
      for (const std::string& metric : metrics)
        c.metrics.push_back({metric, base + worse + off, {}});
    }
    for (const std::string& metric : metrics) pipeline.mean.push_back({metric, base + worse, {}});
  }
  return result;
}

Statistics StatisticsOf(const EvaluateResult& result) {
  Statistics statistics;
  for (const PipelineMetrics& pipeline : result.pipelines) {
    PipelineStatistics& of = statistics.pipelines.emplace_back();
    of.pipeline = pipeline.pipeline;
    for (const MetricValue& value : pipeline.mean)
      of.intervals.push_back({value.name, value.value, value.value - 0.5, value.value + 0.5});
  }
  return statistics;
}

Study StudyOf(const std::vector<std::string>& metrics) {
  Study study;
  for (const char* name : kPipelines)
    study.pipelines.push_back(
        {.pipeline = name,
         .properties = {.translation_invariant = ParsePipeline(name).stages[0] != "ms",
                        .preserves = ParsePipeline(name).stages[0] == "ms" ? Preserves::kNone
                                                                           : Preserves::kOrder}});
  study.repeats.push_back({.result = ResultOf(1.0, metrics)});
  study.statistics = StatisticsOf(study.repeats[0].result);
  return study;
}

const Table* FindTable(const std::vector<NamedTable>& tables, const std::string& name) {
  for (const NamedTable& table : tables) {
    if (table.name == name) return &table.table;
  }
  return nullptr;
}

TEST(ResultsTable, HasTheBlocksOfTheMainPaper) {
  EXPECT_EQ(ResultsTable(StudyOf({"nll"})).ToText(),
            "pipeline   NLL ↓  TI   keeps\n"
            "--------  ------  ---  -----\n"
            "(a) Uncalibrated baselines\n"
            "none(z)   1.0000  yes  order\n"
            "--------  ------  ---  -----\n"
            "(b) Translation invariance: MS, MS_c and DC\n"
            "ms(z)     2.0000  no   none\n"
            "--------  ------  ---  -----\n"
            "(c) Translation invariance: LTS on logits and log-probabilities\n"
            "lts(z)    4.0000  yes  order\n"
            "--------  ------  ---  -----\n"
            "(d) Temperatures: TS and ETS, which keep the order\n"
            "ts(z)     3.0000  yes  order\n");
}

TEST(StudyTables, ShowShiftsBesideTheTestCases) {
  Study study = StudyOf({"nll"});
  for (const char* name : {"mild", "strong"}) {
    const EvaluateResult result = ResultOf(name[0] == 'm' ? 2.0 : 6.0, {"nll"});
    study.shifts.push_back({.name = name, .repeats = {result}, .statistics = StatisticsOf(result)});
  }
  const std::vector<NamedTable> tables = StudyTables(study);
  const Table* table = FindTable(tables, "shifts");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->ToCsv(),
            "pipeline,test cases NLL,mild NLL,strong NLL,TI,keeps\n"
            "none(z),1,2,6,yes,order\nms(z),2,3,7,no,none\nlts(z),4,5,9,yes,order\n"
            "ts(z),3,4,8,yes,order\n");
}

TEST(StudyTables, HaveFourErrorsInFourRegions) {
  const std::vector<NamedTable> tables = StudyTables(StudyOf(FindMetricSet("s2")->metrics));
  const Table* table = FindTable(tables, "regions");
  ASSERT_NE(table, nullptr);
  const std::string text = table->ToMarkdown();
  for (const char* error : {"ECE", "MCE", "SCE", "ACE"}) {
    for (const char* region : {"All", "Boundary", "Local-Avg", "Local-Max"}) {
      const std::string header = std::string(error) + " % " + region + " ↓";
      EXPECT_NE(text.find(header), std::string::npos) << header;
    }
  }
  // Mean and standard deviation of 0.9 and 1.1.
  EXPECT_NE(text.find("| none(z) | **100.00** (14.14) |"), std::string::npos) << text;
}

}  // namespace
}  // namespace segcal
