// SPDX-License-Identifier: Apache-2.0
#include "spatial/surface.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "kernels/tile.h"

namespace segcal {
namespace {

struct Maps {
  VoxelGrid grid;
  std::vector<int32_t> labels;
  std::vector<uint16_t> predicted;

  explicit Maps(const std::vector<int64_t>& shape, const std::vector<double>& spacing = {})
      : grid(MakeGrid(shape, spacing)),
        labels(static_cast<size_t>(grid.num_voxels())),
        predicted(labels.size()) {}
  std::vector<SurfaceScores> Score(double tolerance = 1.0, int threads = 1) const {
    return ScoreSurfaces(grid, labels, predicted, 3, tolerance, threads);
  }
};

// Two single voxels three rows apart: everything is that distance.
TEST(ScoreSurfaces, OfTwoPointsIsTheirDistance) {
  Maps maps({9, 9}, {2.0, 0.5});
  maps.labels[1 * 9 + 4] = 1;
  maps.predicted[4 * 9 + 4] = 1;
  const SurfaceScores s = maps.Score()[1];
  EXPECT_TRUE(s.labelled && s.predicted);
  for (const double d : {s.mean_distance, s.hausdorff, s.hausdorff95, s.volume95}) {
    EXPECT_DOUBLE_EQ(d, 6.0);
  }
  EXPECT_EQ(s.surface_dice, 0.0);
  EXPECT_EQ(s.band_dice, 0.0);
  EXPECT_EQ(maps.Score(/*tolerance=*/6.0)[1].surface_dice, 1.0);
  EXPECT_EQ(maps.Score(/*tolerance=*/5.999)[1].surface_dice, 0.0);
}

// Bars of 1 x 4 and 1 x 6 voxels from the same end on: two voxels stick out, by 1 and by 2.
TEST(ScoreSurfaces, OfBarsHasClosedForms) {
  Maps maps({3, 9});
  for (size_t x = 1; x < 5; ++x) maps.labels[9 + x] = 1;
  for (size_t x = 1; x < 7; ++x) maps.predicted[9 + x] = 1;
  const SurfaceScores s = maps.Score()[1];
  EXPECT_DOUBLE_EQ(s.mean_distance, 3.0 / 10.0);
  EXPECT_DOUBLE_EQ(s.hausdorff, 2.0);
  EXPECT_DOUBLE_EQ(s.hausdorff95, 1.75);  // of {0, 0, 0, 0, 1, 2}, position 4.75
  EXPECT_NEAR(s.volume95, 1.55, 1e-14);   // of {8 x 0, 1, 2}, position 8.55
  EXPECT_DOUBLE_EQ(s.surface_dice, 9.0 / 10.0);
  // Bands of one voxel around them: 3 * 4 + 2 = 14 voxels inside 3 * 6 + 2 = 20.
  EXPECT_DOUBLE_EQ(s.band_dice, 2.0 * 14.0 / 34.0);
}

TEST(ScoreSurfaces, OfEqualMapsIsPerfect) {
  Maps maps({6, 7, 8}, {3.0, 1.0, 0.7});
  for (size_t v = 0; v < maps.labels.size(); ++v) maps.labels[v] = v % 5 == 0 ? 1 : 2;
  maps.predicted.assign(maps.labels.begin(), maps.labels.end());
  const std::vector<SurfaceScores> scores = maps.Score();
  for (const size_t c : {1, 2}) {
    EXPECT_EQ(scores[c].mean_distance, 0.0);
    EXPECT_EQ(scores[c].hausdorff, 0.0);
    EXPECT_EQ(scores[c].surface_dice, 1.0);
    EXPECT_EQ(scores[c].band_dice, 1.0);
  }
}

TEST(ScoreSurfaces, OfOneVoxelIsPerfectOrMissing) {
  Maps maps({1, 1});
  maps.labels[0] = 1;
  maps.predicted[0] = 1;
  const SurfaceScores s = maps.Score()[1];
  EXPECT_EQ(s.mean_distance, 0.0);
  EXPECT_EQ(s.hausdorff95, 0.0);
  EXPECT_EQ(s.volume95, 0.0);
  EXPECT_EQ(s.surface_dice, 1.0);
  EXPECT_EQ(s.band_dice, 1.0);
  maps.predicted[0] = 2;
  EXPECT_FALSE(maps.Score()[1].predicted);
}

TEST(ScoreSurfaces, NamesAbsentClassesAndLeavesThemUndefined) {
  Maps maps({4, 4});
  maps.labels[5] = 1;
  const std::vector<SurfaceScores> scores = maps.Score();
  EXPECT_TRUE(scores[1].labelled);
  EXPECT_FALSE(scores[1].predicted);
  EXPECT_FALSE(scores[2].labelled || scores[2].predicted);
  for (const size_t c : {1, 2}) {
    EXPECT_TRUE(std::isnan(scores[c].mean_distance));
    EXPECT_TRUE(std::isnan(scores[c].surface_dice));
  }
}

TEST(ScoreSurfaces, DoesNotSeeVoxelsWithoutLabel) {
  Maps maps({5, 5});
  maps.labels[12] = 1;
  maps.predicted[12] = 1;
  maps.labels[0] = kNoLabel;  // predicted far away, but nobody knows whether that is wrong
  maps.predicted[0] = 1;
  EXPECT_EQ(maps.Score()[1].hausdorff, 0.0);
  maps.labels.assign(25, kNoLabel);
  for (const SurfaceScores& s : maps.Score()) EXPECT_FALSE(s.labelled || s.predicted);
}

// A tolerance that a distance equals but for rounding: 0.3 and 0.4 make 0.5.
TEST(ScoreSurfaces, CountsADistanceThatEqualsTheTolerance) {
  Maps maps({4, 4}, {0.3, 0.4});
  maps.labels[0] = 1;
  maps.predicted[5] = 1;
  EXPECT_EQ(maps.Score(/*tolerance=*/0.5)[1].surface_dice, 1.0);
}

TEST(ScoreSurfaces, HasTheSameBitsForAnyNumberOfThreads) {
  Maps maps({40, 41, 42}, {2.5, 0.8, 0.9});
  Rng rng(4, 0);
  for (size_t v = 0; v < maps.labels.size(); ++v) {
    maps.labels[v] = static_cast<int32_t>(rng.Below(50) == 0 ? rng.Below(3) : v / 30000 % 3);
    maps.predicted[v] = static_cast<uint16_t>(rng.Below(50) == 0 ? rng.Below(3) : v / 33000 % 3);
  }
  const std::vector<SurfaceScores> one = maps.Score(1.0, 1);
  const std::vector<SurfaceScores> three = maps.Score(1.0, 3);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(one[c].mean_distance, three[c].mean_distance);
    EXPECT_EQ(one[c].hausdorff95, three[c].hausdorff95);
    EXPECT_EQ(one[c].volume95, three[c].volume95);
    EXPECT_EQ(one[c].band_dice, three[c].band_dice);
  }
}

}  // namespace
}  // namespace segcal
