// SPDX-License-Identifier: Apache-2.0
#include "pipeline/metric_sets.h"

#include <gtest/gtest.h>

#include "metrics/metric.h"
#include "pipeline/accumulators.h"

namespace segcal {
namespace {

const OptionMap& OptionsOf(const MetricSelection& selection, const std::string& family) {
  for (const SelectedFamily& selected : selection) {
    if (family == selected.info->name) return selected.options;
  }
  throw std::out_of_range(family);
}

TEST(MetricSets, NameMetricsAndFamiliesThatAreThere) {
  for (const MetricSet& set : MetricSets()) {
    EXPECT_FALSE(set.metrics.empty());
    for (const std::string& metric : set.metrics) EXPECT_NE(FindNumber(metric), nullptr) << metric;
    EvaluateOptions options;
    options.families = {"all"};
    options.metrics = set.options;
    EXPECT_NO_THROW(SelectMetrics(options)) << set.name;
  }
  EXPECT_EQ(FindMetricSet("nll"), nullptr);
}

TEST(MetricSets, BringFamiliesAndOptions) {
  EvaluateOptions options;
  options.families = {"s2", "ece"};
  EXPECT_EQ(SelectedFamilies(options),
            (std::vector<std::string>{"calibration_error", "boundary_ece", "local", "regional"}));
  const MetricSelection selection = SelectMetrics(options);
  EXPECT_EQ(OptionsOf(selection, "boundary_ece").at("preset"), "s2");
  EXPECT_EQ(OptionsOf(selection, "calibration_error").at("preset"), "s2");
}

TEST(MetricSets, LeaveOptionsToWhoGivesThem) {
  EvaluateOptions options;
  options.families = {"s2"};
  options.metrics["boundary_ece"] = {{"preset", "guo"}, {"distance", "physical"}};
  const OptionMap merged = OptionsOf(SelectMetrics(options), "boundary_ece");
  EXPECT_EQ(merged.at("preset"), "guo");
  EXPECT_EQ(merged.at("distance"), "physical");
}

}  // namespace
}  // namespace segcal
