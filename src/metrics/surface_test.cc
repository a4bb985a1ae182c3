// SPDX-License-Identifier: Apache-2.0
#include "spatial/surface.h"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/volumes_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Bits;
using testing::Image;
using testing::Number;
using testing::RandomImage;
using testing::Value;
using testing::Voxel;

std::vector<SurfaceScores> ScoresOf(const Image& image, double tolerance) {
  std::vector<uint16_t> predicted;
  for (const Voxel& voxel : image.voxels) predicted.push_back(voxel.Predicted());
  return ScoreSurfaces(image.grid, image.Labels(), predicted, 3, tolerance, 1);
}

Image Blank(const std::vector<int64_t>& shape, size_t size) {
  return {shape, std::vector<Voxel>(size, {.probs = {1.0f, 0.0f, 0.0f}, .label = 0})};
}

TEST(Surface, IsThatOfTheWholeCaseWhateverTheOrderOfItsTiles) {
  const Image image = RandomImage(2, {11, 20, 23});
  const std::vector<SurfaceScores> scores = ScoresOf(image, 1.5);
  const auto even = Accumulate("surface", image, {{"tolerance", "1.5"}}, 0, 2);
  const auto odd = Accumulate("surface", image, {{"tolerance", "1.5"}}, 1, 2);
  const auto whole = Accumulate("surface", image, {{"tolerance", "1.5"}});
  odd->Merge(*even);
  EXPECT_EQ(Bits(*odd), Bits(*whole));
  odd->Complete();
  EXPECT_EQ(Bits(*odd), Bits(*whole));
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(Number(*odd, "asd").per_class[c], scores[c].mean_distance, 1e-15);
    EXPECT_NEAR(Number(*odd, "hd").per_class[c], scores[c].hausdorff, 1e-15);
    EXPECT_NEAR(Number(*odd, "hd95").per_class[c], scores[c].hausdorff95, 1e-15);
    EXPECT_NEAR(Number(*odd, "md95").per_class[c], scores[c].volume95, 1e-15);
    EXPECT_NEAR(Number(*odd, "nsd").per_class[c], scores[c].surface_dice, 1e-15);
    EXPECT_NEAR(Number(*odd, "surface_dice").per_class[c], scores[c].band_dice, 1e-15);
  }
}

// Class 1 in the labels only, class 2 nowhere, class 0 the background.
TEST(Surface, OfMissingAndAbsentClassesIsAsDefined) {
  Image image = Blank({6, 8}, 48);
  image.background = 0;
  image.voxels[20].label = 1;
  const auto sums = Accumulate("surface", image);
  EXPECT_EQ(Value(*sums, "hd"), 10.0);  // the diagonal of 6 x 8
  EXPECT_EQ(Number(*sums, "nsd").per_class[1], 0.0);
  EXPECT_TRUE(std::isnan(Number(*sums, "asd").per_class[2]));
  EXPECT_EQ(Number(*sums, "surface_dice").per_class[2], 1.0);
  EXPECT_EQ(Value(*sums, "surface_dice"), 0.5);
  const auto skipped = Accumulate("surface", image, {{"absent", "skip"}, {"missing", "skip"}});
  EXPECT_TRUE(std::isnan(Value(*skipped, "hd")));
  EXPECT_EQ(Value(*skipped, "nsd"), 0.0);
}

TEST(Surface, OfSeveralCasesIsTheMeanOverCases) {
  const auto first = Accumulate("surface", RandomImage(3, {15, 20}));
  const auto second = Accumulate("surface", RandomImage(4, {30, 20}));
  const auto total = testing::Family("surface").make({.num_classes = 3}, {});
  total->MergeCase(*first);
  second->Complete();
  total->MergeCase(*second);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(Number(*total, "asd").per_class[c],
                0.5 * (Number(*first, "asd").per_class[c] + Number(*second, "asd").per_class[c]),
                1e-15);
  }
}

TEST(Surface, WithoutALabelledVoxelIsUndefined) {
  Image image = Blank({4, 4}, 16);
  for (Voxel& voxel : image.voxels) voxel.label = kNoLabel;
  for (const MetricValue& number : Accumulate("surface", image)->Finish()) {
    EXPECT_TRUE(std::isnan(number.value)) << number.name;
  }
}

}  // namespace
}  // namespace segcal
