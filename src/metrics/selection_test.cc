// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "metrics/tiles_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::RandomVoxels;
using testing::TopLabelVoxel;
using testing::Value;
using testing::Voxel;

std::vector<Voxel> HandVoxels() {
  return {TopLabelVoxel(0.9375f, true),
          TopLabelVoxel(0.875f, true),
          TopLabelVoxel(0.75f, false),
          TopLabelVoxel(0.625f, true),
          TopLabelVoxel(0.5625f, false),
          {.probs = {0.99f, 0.01f}, .label = kNoLabel}};
}

TEST(Selection, OfHandComputedVoxels) {
  const auto selection = Accumulate("selection", HandVoxels(), {{"detect_below", "0.7"}});
  // Pairs in order: 0.9375 and 0.875 beat both wrong ones, 0.625 one of two.
  EXPECT_DOUBLE_EQ(Value(*selection, "auroc"), 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(Value(*selection, "aupr_success"), (1.0 + 1.0 + 0.75) / 3.0);
  EXPECT_DOUBLE_EQ(Value(*selection, "aupr_error"), (1.0 + 2.0 / 3.0) / 2.0);
  EXPECT_DOUBLE_EQ(Value(*selection, "aurc"), (0 + 0 + 1.0 / 3.0 + 1.0 / 4.0 + 2.0 / 5.0) / 5.0);
  // Cumulated from below: 0.5625, 0.1875, 0.9375, 0.8125, 0.75.
  EXPECT_DOUBLE_EQ(Value(*selection, "ks_ce"), 0.9375 / 5.0);
  EXPECT_DOUBLE_EQ(Value(*selection, "error_recall"), 0.5);
  EXPECT_DOUBLE_EQ(Value(*selection, "error_precision"), 0.5);
}

TEST(Selection, IsUndefinedWhereNothingIsToBeFound) {
  const auto right = Accumulate("selection", {TopLabelVoxel(0.75f, true)});
  for (const char* name : {"auroc", "aupr_error", "aupr_success", "error_recall"})
    EXPECT_TRUE(std::isnan(Value(*right, name))) << name;
  EXPECT_TRUE(std::isnan(Value(*right, "error_precision")));  // nothing is reported
  EXPECT_EQ(Value(*right, "aurc"), 0.0);
  EXPECT_EQ(Value(*right, "ks_ce"), 0.25);
}

// KS of constant confidence is the gap of one bin.
TEST(Selection, KsOfOneConfidenceIsItsGap) {
  const auto selection = Accumulate("selection",
                                    {TopLabelVoxel(0.75f, true),
                                     TopLabelVoxel(0.75f, false),
                                     TopLabelVoxel(0.75f, false),
                                     TopLabelVoxel(0.75f, false)});
  EXPECT_DOUBLE_EQ(Value(*selection, "ks_ce"), 0.5);
}

// Finding errors does not depend on the scale of confidence, only on its order.
TEST(Selection, DependsOnTheOrderOnly) {
  std::vector<Voxel> voxels = RandomVoxels(/*seed=*/4, 3000, 2);
  const auto before = Accumulate("selection", voxels);
  for (Voxel& voxel : voxels) {
    const float top = voxel.Confidence();
    const size_t winner = voxel.Predicted();
    // 3/4 + x/8 keeps the order; in float32 it may tie what was apart.
    voxel.probs[winner] = 0.75f + top / 8.0f;
    voxel.probs[1 - winner] = 0.25f - top / 8.0f;
  }
  const auto after = Accumulate("selection", voxels);
  for (const char* name : {"auroc", "aupr_error", "aupr_success", "aurc"})
    EXPECT_NEAR(Value(*after, name), Value(*before, name), 1e-4) << name;
}

// Pooled values differ from exact ones by what 16-bit keys tie, no more.
TEST(Selection, PooledCasesStayCloseToExact) {
  const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/5, 20000, 3);
  const auto exact = Accumulate("selection", voxels);
  const auto pooled = testing::Family("selection").make({3, -1}, {});
  pooled->MergeCase(*exact);
  for (const char* name : {"auroc", "aupr_error", "aupr_success", "aurc", "ks_ce"})
    EXPECT_NEAR(Value(*pooled, name), Value(*exact, name), 2e-4) << name;
  EXPECT_EQ(Value(*pooled, "error_recall"), Value(*exact, "error_recall"));
}

TEST(Selection, ForegroundLeavesOutVoxelsLabelledBackground) {
  const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/6, 900, 3);
  std::vector<Voxel> kept;
  for (const Voxel& voxel : voxels) {
    if (voxel.label != 2) kept.push_back(voxel);
  }
  EXPECT_EQ(testing::Bits(*Accumulate("selection", voxels, {{"foreground", "true"}}, 2)),
            testing::Bits(*Accumulate("selection", kept)));
}

TEST(Selection, CurveFallsToTheErrorRate) {
  const std::vector<Diagram> diagrams = Accumulate("selection", HandVoxels())->Diagrams();
  ASSERT_EQ(diagrams.size(), 1u);
  EXPECT_EQ(diagrams[0].kind, DiagramKind::kRiskCoverage);
  const std::vector<std::vector<double>>& curve = diagrams[0].rows;  // coverage, risk, confidence
  ASSERT_EQ(curve.size(), 100u);
  EXPECT_EQ(curve[39], (std::vector<double>{0.4, 0.0, curve[39][2]}));  // two of five voxels
  EXPECT_DOUBLE_EQ(curve[59][1], 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(curve[99][1], 0.4);
  EXPECT_EQ(curve[99][2], 0.5625);
}

TEST(Selection, RefusesAThresholdThatIsNone) {
  EXPECT_THROW(Accumulate("selection", {}, {{"detect_below", "-1"}}), Error);
}

}  // namespace
}  // namespace segcal
