// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "segcal/tables.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

EvaluateResult TwoClasses() {
  EvaluateResult result;
  result.classes = {"sky", "road"};
  for (const char* name : {"none(z)", "ts(z)", "dc(z)"}) {
    PipelineMetrics& pipeline = result.pipelines.emplace_back();
    pipeline.pipeline = name;
    const double k = static_cast<double>(result.pipelines.size());
    pipeline.mean = {{"nll", 1.0 / k, {}},
                     {"classwise_ece", 0.25, {0.5 / k, 0.5 * k}},
                     {"dsc", 0.1 * k, {0.1 * k, std::nan("")}},
                     {"entropy", k, {}}};
  }
  result.pipelines[0].diagrams = {{.kind = DiagramKind::kConfusion, .rows = {{1000, 234}, {0, 5}}}};
  return result;
}

TEST(ClassTable, HasARowPerMetricAndClass) {
  const EvaluateResult result = TwoClasses();
  const Table table = ClassTable(result, MetricColumns(result, {}));
  EXPECT_EQ(table.ToText(),
            "metric   class  voxels  none(z)   ts(z)   dc(z)\n"
            "-------  -----  ------  -------  ------  ------\n"
            "cwECE ↓  sky     1,234   0.5000  0.2500  0.1667\n"
            "         road        5   0.5000  1.0000  1.5000\n"
            "-------  -----  ------  -------  ------  ------\n"
            "DSC % ↑  sky     1,234    10.00   20.00   30.00\n"
            "         road        5        –       –       –\n");
  EXPECT_EQ(table.ToMarkdown().substr(table.ToMarkdown().find("| cwECE")),
            "| cwECE ↓ | sky | 1,234 | 0.5000 | 0.2500 | **0.1667** |\n"
            "|  | road | 5 | **0.5000** | 1.0000 | 1.5000 |\n"
            "| DSC % ↑ | sky | 1,234 | 10.00 | 20.00 | **30.00** |\n"
            "|  | road | 5 | – | – | – |\n");
}

TEST(ClassTable, IsAmongTheTablesWhenItIsAskedFor) {
  const EvaluateResult result = TwoClasses();
  EXPECT_EQ(EvaluationTables(result).size(), 1u);
  EXPECT_EQ(EvaluationTables(result, {}, /*per_class=*/true).size(), 2u);
  EXPECT_FALSE(HasClassTable(result, MetricColumns(result, {"nll"})));
}

std::vector<std::string> Order(const EvaluateResult& result) {
  std::vector<std::string> names;
  for (const PipelineMetrics& pipeline : result.pipelines) names.push_back(pipeline.pipeline);
  return names;
}

TEST(SortedBy, PutsTheBestFirst) {
  EvaluateResult result = TwoClasses();
  EXPECT_EQ(Order(SortedBy(result, "nll")),
            (std::vector<std::string>{"dc(z)", "ts(z)", "none(z)"}));
  EXPECT_EQ(Order(SortedBy(result, "dsc")),
            (std::vector<std::string>{"dc(z)", "ts(z)", "none(z)"}));
  // Equal ones stay in their order, the undefined come last.
  EXPECT_EQ(Order(SortedBy(result, "classwise_ece")), Order(result));
  result.pipelines[0].mean[0].value = std::nan("");
  EXPECT_EQ(Order(SortedBy(result, "nll")).back(), "none(z)");
}

TEST(SortedBy, TakesStatisticsWithIt) {
  EvaluateResult result = TwoClasses();
  result.statistics.emplace();
  for (const std::string& name : Order(result))
    result.statistics->pipelines.push_back({.pipeline = name, .intervals = {}, .comparisons = {}});
  const EvaluateResult sorted = SortedBy(result, "nll");
  for (size_t p = 0; p < 3; ++p)
    EXPECT_EQ(sorted.statistics->pipelines[p].pipeline, sorted.pipelines[p].pipeline);
}

TEST(SortedBy, RefusesWhatHasNoBest) {
  const EvaluateResult result = TwoClasses();
  ExpectError(
      ErrorCode::kInvalidArgument, {"ece", "not computed"}, [&] { SortedBy(result, "ece"); });
  ExpectError(ErrorCode::kInvalidArgument, {"entropy", "no best value"}, [&] {
    SortedBy(result, "entropy");
  });
  ExpectError(ErrorCode::kInvalidArgument, {"joy"}, [&] { SortedBy(result, "joy"); });
}

}  // namespace
}  // namespace segcal
