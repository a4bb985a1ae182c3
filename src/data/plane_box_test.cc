// SPDX-License-Identifier: Apache-2.0
#include "data/plane_box.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace segcal {
namespace {

TEST(MakePlaneGrid, TakesTheLastTwoAxesAsThePlane) {
  const PlaneGrid volume = MakePlaneGrid({7, 5, 9});
  EXPECT_EQ(volume.planes, 7);
  EXPECT_EQ(volume.height, 5);
  EXPECT_EQ(volume.width, 9);
  const PlaneGrid row = MakePlaneGrid({12});
  EXPECT_EQ(row.planes, 1);
  EXPECT_EQ(row.height, 1);
  EXPECT_EQ(row.width, 12);
}

TEST(ReflectedIndex, DoesNotRepeatTheEdgeUnlessTheSideIsShort) {
  EXPECT_EQ(ReflectedIndex(-1, 9), 1);
  EXPECT_EQ(ReflectedIndex(-4, 9), 4);
  EXPECT_EQ(ReflectedIndex(4, 9), 4);
  EXPECT_EQ(ReflectedIndex(9, 9), 7);
  EXPECT_EQ(ReflectedIndex(12, 9), 4);
  EXPECT_EQ(ReflectedIndex(-4, 5), 4);
  EXPECT_EQ(ReflectedIndex(-3, 4), 0);
  EXPECT_EQ(ReflectedIndex(6, 4), 3);
  EXPECT_EQ(ReflectedIndex(-2, 1), 0);
}

TEST(CutIntoBoxes, CoversEveryVoxelOnceWithinTheBytes) {
  const PlaneGrid grid{.planes = 2, .height = 101, .width = 1000};
  for (const int64_t bytes : {int64_t{1}, int64_t{1} << 20, int64_t{1} << 30}) {
    std::vector<int> visits(static_cast<size_t>(grid.planes * grid.height * grid.width));
    for (const PlaneBox& box : CutIntoBoxes(grid, 5, bytes)) {
      EXPECT_EQ(box.x % kStripColumns, 0);
      EXPECT_EQ(box.y % kBoxRows, 0);
      if (box.columns > kStripColumns) {
        EXPECT_LE(5 * 4 * (box.rows + 2 * kTreeHalo) * (box.columns + 2 * kTreeHalo), bytes);
      }
      for (int64_t y = 0; y < box.rows; ++y) {
        for (int64_t x = 0; x < box.columns; ++x) {
          const int64_t row = box.plane * grid.height + box.y + y;
          ++visits[static_cast<size_t>(row * grid.width + box.x + x)];
        }
      }
    }
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; })) << bytes;
  }
}

}  // namespace
}  // namespace segcal
