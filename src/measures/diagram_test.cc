// SPDX-License-Identifier: Apache-2.0
#include "measures/diagram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace segcal {
namespace {

TEST(FindMetric, FindsByNameAndByClass) {
  const std::vector<MetricValue> metrics = {{"nll", 0.5, {}}, {"dsc", 0.75, {0.5, 1.0}}};
  EXPECT_EQ(FindMetric(metrics, "dsc"), &metrics[1]);
  EXPECT_EQ(FindMetric(metrics, "ece"), nullptr);
  EXPECT_EQ(FindValue(metrics, "nll"), 0.5);
  EXPECT_EQ(FindValue(metrics, "dsc", 1), 1.0);
  EXPECT_TRUE(std::isnan(FindValue(metrics, "ece")));
  EXPECT_TRUE(std::isnan(FindValue(metrics, "ece", 0)));
  EXPECT_TRUE(std::isnan(FindValue(metrics, "nll", 0))) << "has no values of classes";
  EXPECT_TRUE(std::isnan(FindValue(metrics, "dsc", 2)));
  EXPECT_TRUE(std::isnan(FindValue(metrics, "dsc", -1)));
}

TEST(FindDiagram, FindsByKindAndWhatItIsAbout) {
  std::vector<Diagram> diagrams = {EmptyDiagram(DiagramKind::kReliability),
                                   EmptyDiagram(DiagramKind::kReliability),
                                   EmptyDiagram(DiagramKind::kReliability),
                                   EmptyDiagram(DiagramKind::kConfusion, 2)};
  diagrams[0].about = "top_label";
  diagrams[1].about = "boundary";
  diagrams[2].about = "predicted";
  diagrams[2].class_index = 4;
  EXPECT_EQ(FindDiagram(diagrams, DiagramKind::kReliability), &diagrams[0]);
  EXPECT_EQ(FindDiagram(diagrams, DiagramKind::kReliability, "boundary"), &diagrams[1]);
  EXPECT_EQ(FindDiagram(diagrams, DiagramKind::kReliability, "predicted", 4), &diagrams[2]);
  EXPECT_EQ(FindDiagram(diagrams, DiagramKind::kReliability, "predicted"), nullptr);
  EXPECT_EQ(FindDiagram(diagrams, DiagramKind::kConfusion), &diagrams[3]);
  EXPECT_EQ(FindDiagram(diagrams, DiagramKind::kPatchSweep), nullptr);
}

TEST(Diagram, HasTheColumnsOfItsKind) {
  const auto names = [](DiagramKind kind) {
    std::string text;
    for (const DiagramColumn& column : EmptyDiagram(kind, 3).columns)
      text += column.name + (column.count ? "# " : " ");
    return text;
  };
  EXPECT_EQ(names(DiagramKind::kReliability), "lower upper count# correct# confidence_sum ");
  EXPECT_EQ(names(DiagramKind::kConfusion), "0# 1# 2# ");
  EXPECT_EQ(names(DiagramKind::kRiskCoverage), "coverage risk confidence ");
  EXPECT_EQ(names(DiagramKind::kPatchSweep),
            "patch# ece_local_avg ece_local_max mce_local_avg mce_local_max ");
}

TEST(ReliabilityRows, AreTheRowsByTheirNames) {
  Diagram diagram = EmptyDiagram(DiagramKind::kReliability);
  diagram.rows = {{0.25, 0.5, 0x1p52, 3.0, 0.375}};
  const std::vector<ReliabilityRow> rows = ReliabilityRows(diagram);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].lower, 0.25);
  EXPECT_EQ(rows[0].upper, 0.5);
  EXPECT_EQ(rows[0].count, int64_t{1} << 52);
  EXPECT_EQ(rows[0].correct, 3);
  EXPECT_EQ(rows[0].confidence_sum, 0.375);
  testing::ExpectError(ErrorCode::kInvalidArgument, {"confusion", "reliability"}, [] {
    ReliabilityRows(EmptyDiagram(DiagramKind::kConfusion, 2));
  });
}

}  // namespace
}  // namespace segcal
