// SPDX-License-Identifier: Apache-2.0
#include "report/region_table.h"

#include <gtest/gtest.h>

#include "pipeline/metric_sets.h"

namespace segcal {
namespace {

// Sixteen numbers: k / 1000 before, twice that after.
EvaluateResult RegionResult() {
  EvaluateResult result;
  for (const char* name : {"none(z)", "ts(z)"}) {
    PipelineMetrics& pipeline = result.pipelines.emplace_back();
    pipeline.pipeline = name;
    const double factor = result.pipelines.size() == 1 ? 0.001 : 0.002;
    for (const std::string& metric : FindMetricSet("s2")->metrics) {
      const double k = static_cast<double>(pipeline.mean.size()) + 1.0;
      pipeline.mean.push_back({metric, factor * k, {}});
    }
    pipeline.mean.push_back({"nll", 0.5, {}});
  }
  return result;
}

TEST(RegionTable, HasARowPerErrorAndPipelineInPercent) {
  EXPECT_EQ(RegionTable(RegionResult()).ToCsv(),
            "% ↓,pipeline,All,Boundary,Local-Avg,Local-Max\n"
            "ECE,none(z),0.1,0.2,0.3,0.4\n,ts(z),0.2,0.4,0.6,0.8\n"
            "MCE,none(z),0.5,0.6,0.7000000000000001,0.8\n,ts(z),1,1.2,1.4000000000000001,1.6\n"
            "SCE,none(z),0.9000000000000001,1,1.0999999999999999,1.2\n"
            ",ts(z),1.8000000000000003,2,2.1999999999999997,2.4\n"
            "ACE,none(z),1.3,1.4000000000000001,1.5,1.6\n"
            ",ts(z),2.6,2.8000000000000003,3,3.2\n");
}

TEST(RegionTable, MarksTheBestOfEveryErrorByItself) {
  const std::string text = RegionTable(RegionResult()).ToMarkdown();
  for (const char* bold : {"**0.10**", "**0.50**", "**0.90**", "**1.30**", "**1.60**"})
    EXPECT_NE(text.find(bold), std::string::npos) << bold;
  EXPECT_EQ(text.find("**0.20** | **0.40**"), std::string::npos);
  EXPECT_NE(RegionTable(RegionResult()).ToLatex().find("Local-Avg"), std::string::npos);
}

TEST(RegionTable, IsThereWhenItIsNamedAndComputed) {
  EvaluateResult result = RegionResult();
  EXPECT_TRUE(HasRegionTable(result, {"s2"}));
  EXPECT_FALSE(HasRegionTable(result, {"all"})) << "other bins";
  EXPECT_EQ(MetricColumns(result, {"s2"}).size(), 16u);
  EXPECT_EQ(MetricColumns(result, {"s2"})[9].header, "Boundary SCE");
  EXPECT_TRUE(MainColumns(result, {"s2"}).empty());
  ASSERT_EQ(MainColumns(result, {"s2", "nll"}).size(), 1u);
  EXPECT_EQ(EvaluationTables(result, {"s2"}).size(), 1u);
  EXPECT_EQ(EvaluationTables(result, {"s2", "nll"}).size(), 2u);
  for (PipelineMetrics& pipeline : result.pipelines) pipeline.mean.erase(pipeline.mean.begin());
  EXPECT_FALSE(HasRegionTable(result, {"s2"}));
}

}  // namespace
}  // namespace segcal
