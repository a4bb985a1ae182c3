// SPDX-License-Identifier: Apache-2.0
#include "spatial/boundary.h"

#include <gtest/gtest.h>

#include "kernels/tile.h"
#include "spatial/bands.h"
#include "spatial/distance.h"

namespace segcal {
namespace {

using Bytes = std::vector<uint8_t>;
using Labels = std::vector<int32_t>;

VoxelGrid GridOfShape(const std::vector<int64_t>& shape) { return MakeGrid(shape); }

TEST(LabelBoundary, HasBothSidesAndNoBorderOfTheImage) {
  const Labels labels = {0,
                         0,
                         1,
                         1,  //
                         0,
                         0,
                         1,
                         1,  //
                         0,
                         0,
                         0,
                         2};
  const Bytes expected = {0,
                          1,
                          1,
                          0,  //
                          0,
                          1,
                          1,
                          1,  //
                          0,
                          0,
                          1,
                          1};
  EXPECT_EQ(LabelBoundary(GridOfShape({3, 4}), labels), expected);
}

TEST(LabelBoundary, OfAVolumeLooksAlongAllThreeAxes) {
  Labels labels(27);
  labels[13] = 1;  // the centre
  Bytes expected(27);
  for (const size_t v : {4, 10, 12, 13, 14, 16, 22}) expected[v] = 1;
  EXPECT_EQ(LabelBoundary(GridOfShape({3, 3, 3}), labels), expected);
}

TEST(LabelBoundary, IsNotMadeByVoxelsWithoutLabel) {
  const Labels labels = {0, kNoLabel, 1, 1, kNoLabel, 1, 2};
  EXPECT_EQ(LabelBoundary(GridOfShape({7}), labels), (Bytes{0, 0, 0, 0, 0, 1, 1}));
}

TEST(SquaredBoundaryDistances, CountFromTheBoundaryVoxels) {
  const Labels labels = {0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(SquaredBoundaryDistances(GridOfShape({7}), labels, 1),
            (std::vector<int32_t>{4, 1, 0, 0, 1, 4, 9}));
  EXPECT_EQ(SquaredBoundaryDistances(GridOfShape({3}), Labels{1, 1, 1}, 1),
            (std::vector<int32_t>{kNoSource, kNoSource, kNoSource}));
}

TEST(FindBand, HasEdgesThatBelongToTheUpperBand) {
  EXPECT_EQ(FindBand(0), 0);
  EXPECT_EQ(FindBand(8), 0);
  EXPECT_EQ(FindBand(9), 1);
  EXPECT_EQ(FindBand(48), 1);
  EXPECT_EQ(FindBand(49), 2);
  EXPECT_EQ(FindBand(224), 2);
  EXPECT_EQ(FindBand(225), 3);
  EXPECT_EQ(FindBand(kNoSource), kNumBands - 1);
}

TEST(FindSurface, IsWhatErosionTakesAway) {
  const Bytes block = {0, 0, 0, 0, 0,  //
                       0, 1, 1, 1, 0,  //
                       0, 1, 1, 1, 0,  //
                       0, 1, 1, 1, 0,  //
                       0, 0, 0, 0, 0};
  Bytes expected = block;
  expected[12] = 0;
  EXPECT_EQ(FindSurface(GridOfShape({5, 5}), block), expected);
}

TEST(FindSurface, EndsTheSetAtTheBorderOfTheImage) {
  Bytes expected(25, 1);
  for (const size_t v : {6, 7, 8, 11, 12, 13, 16, 17, 18}) expected[v] = 0;
  EXPECT_EQ(FindSurface(GridOfShape({5, 5}), Bytes(25, 1)), expected);
}

TEST(FindSurface, OfOneVoxelIsThatVoxel) {
  for (const auto& shape : {std::vector<int64_t>{1}, {1, 1}, {1, 1, 1}}) {
    EXPECT_EQ(FindSurface(GridOfShape(shape), Bytes{1}), Bytes{1});
    EXPECT_EQ(FindSurface(GridOfShape(shape), Bytes{0}), Bytes{0});
  }
}

TEST(FindSurface, TreatsASingleSliceAsAnImage) {
  const Bytes full(25, 1);
  const Bytes flat = FindSurface(GridOfShape({5, 5}), full);
  EXPECT_EQ(FindSurface(GridOfShape({1, 5, 5}), full), flat);
  EXPECT_EQ(FindSurface(GridOfShape({5, 1, 5}), full), flat);
  EXPECT_EQ(FindSurface(GridOfShape({5, 5, 1}), full), flat);
}

}  // namespace
}  // namespace segcal
