// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "metrics/tiles_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Number;
using testing::RandomVoxels;
using testing::Value;
using testing::Voxel;

// A voxel predicted as `predicted` for sure.
Voxel Certain(int64_t num_classes, int32_t label, int64_t predicted) {
  Voxel voxel{.probs = std::vector<float>(static_cast<size_t>(num_classes)), .label = label};
  voxel.probs[static_cast<size_t>(predicted)] = 1.0f;
  return voxel;
}

// Classes 0 (background), 1, 2, and 3, which never occurs. Confusion: 0 -> 0 twice, 0 -> 1 once,
// 1 -> 1 twice, 1 -> 2 once, 2 -> 2 once.
std::vector<Voxel> SmallScene() {
  return {Certain(4, 0, 0),
          Certain(4, 0, 0),
          Certain(4, 0, 1),
          Certain(4, 1, 1),
          Certain(4, 1, 1),
          Certain(4, 1, 2),
          Certain(4, 2, 2),
          Certain(4, kNoLabel, 3)};
}

TEST(Overlap, DiceIsMeanOverForegroundWithAbsentClassOne) {
  const MetricValue dsc = Number(*Accumulate("overlap", SmallScene(), {}, /*background=*/0), "dsc");
  ASSERT_EQ(dsc.per_class.size(), 4u);
  EXPECT_DOUBLE_EQ(dsc.per_class[0], 4.0 / 5.0);
  EXPECT_DOUBLE_EQ(dsc.per_class[1], 4.0 / 6.0);
  EXPECT_DOUBLE_EQ(dsc.per_class[2], 2.0 / 3.0);
  EXPECT_EQ(dsc.per_class[3], 1.0);
  EXPECT_DOUBLE_EQ(dsc.value, (4.0 / 6.0 + 2.0 / 3.0 + 1.0) / 3.0);
}

TEST(Overlap, DiceCanSkipAbsentClassesAndHaveNoBackground) {
  const MetricValue dsc = Number(*Accumulate("overlap", SmallScene(), {{"absent", "skip"}}), "dsc");
  EXPECT_TRUE(std::isnan(dsc.per_class[3]));
  EXPECT_DOUBLE_EQ(dsc.value, (4.0 / 5.0 + 4.0 / 6.0 + 2.0 / 3.0) / 3.0);
}

TEST(Overlap, IntersectionOverUnionSkipsAbsentClassesAndKeepsBackground) {
  const MetricValue iou =
      Number(*Accumulate("overlap", SmallScene(), {}, /*background=*/0), "miou");
  ASSERT_EQ(iou.per_class.size(), 4u);
  EXPECT_DOUBLE_EQ(iou.per_class[0], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(iou.per_class[1], 2.0 / 4.0);
  EXPECT_DOUBLE_EQ(iou.per_class[2], 1.0 / 2.0);
  EXPECT_TRUE(std::isnan(iou.per_class[3]));
  EXPECT_DOUBLE_EQ(iou.value, (2.0 / 3.0 + 1.0 / 2.0 + 1.0 / 2.0) / 3.0);
}

TEST(Overlap, ClassOnlyInThePredictionScoresZero) {
  const auto overlap = Accumulate("overlap", {Certain(2, 0, 0), Certain(2, 0, 1)});
  EXPECT_EQ(Number(*overlap, "dsc").per_class[1], 0.0);
  EXPECT_EQ(Number(*overlap, "miou").per_class[1], 0.0);
}

// Independent twin: overlap of sets of voxel numbers.
TEST(Overlap, MatchesSetArithmetic) {
  const int32_t num_classes = 6;
  const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/8, 2000, num_classes);
  const auto overlap = Accumulate("overlap", voxels);
  for (int32_t c = 0; c < num_classes; ++c) {
    std::set<size_t> labelled, predicted, both, either;
    for (size_t v = 0; v < voxels.size(); ++v) {
      if (voxels[v].label == kNoLabel) continue;
      if (voxels[v].label == c) labelled.insert(v);
      if (voxels[v].Predicted() == c) predicted.insert(v);
      if (labelled.count(v) && predicted.count(v)) both.insert(v);
      if (labelled.count(v) || predicted.count(v)) either.insert(v);
    }
    const double dice = 2.0 * static_cast<double>(both.size()) /
                        static_cast<double>(labelled.size() + predicted.size());
    const double iou = static_cast<double>(both.size()) / static_cast<double>(either.size());
    EXPECT_DOUBLE_EQ(Number(*overlap, "dsc").per_class[static_cast<size_t>(c)], dice);
    EXPECT_DOUBLE_EQ(Number(*overlap, "miou").per_class[static_cast<size_t>(c)], iou);
  }
}

TEST(Overlap, OneClassIsPerfectUnlessItIsTheBackground) {
  const std::vector<Voxel> voxels = {Certain(1, 0, 0), Certain(1, kNoLabel, 0)};
  EXPECT_EQ(Value(*Accumulate("overlap", voxels), "dsc"), 1.0);
  const auto background_only = Accumulate("overlap", voxels, {}, /*background=*/0);
  EXPECT_TRUE(std::isnan(Value(*background_only, "dsc")));
  EXPECT_EQ(Value(*background_only, "miou"), 1.0);
}

TEST(Overlap, WithoutLabelledVoxelNothingIsDefined) {
  const MetricValue dsc = Number(*Accumulate("overlap", {Certain(3, kNoLabel, 1)}), "dsc");
  EXPECT_TRUE(std::isnan(dsc.value));
  for (const double value : dsc.per_class) EXPECT_TRUE(std::isnan(value));
}

TEST(Overlap, CountsStayExactPastTwoToThe33) {
  auto overlap = Accumulate("overlap", {Certain(2, 0, 0)});
  testing::Double(overlap.get(), 33);
  overlap->Merge(*Accumulate("overlap", {Certain(2, 1, 0)}));
  EXPECT_EQ(Number(*overlap, "miou").per_class[0], 0x1p33 / (0x1p33 + 1.0));
}

TEST(Overlap, GivesTheConfusionMatrix) {
  const std::vector<Diagram> diagrams = Accumulate("overlap", SmallScene())->Diagrams();
  ASSERT_EQ(diagrams.size(), 1u);
  EXPECT_EQ(diagrams[0].kind, DiagramKind::kConfusion);
  EXPECT_EQ(diagrams[0].columns.size(), 4u);
  EXPECT_EQ(
      diagrams[0].rows,
      (std::vector<std::vector<double>>{{2, 1, 0, 0}, {0, 2, 1, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}}));
}

TEST(Overlap, RefusesUnknownRuleForAbsentClasses) {
  EXPECT_THROW(Accumulate("overlap", {}, {{"absent", "zero"}}), Error);
}

}  // namespace
}  // namespace segcal
