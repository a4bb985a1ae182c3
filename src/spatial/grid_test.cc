// SPDX-License-Identifier: Apache-2.0
#include "spatial/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/errors.h"

namespace segcal {
namespace {

using Shape = std::vector<int64_t>;
using Spacing = std::vector<double>;

TEST(MakeGrid, PutsMissingAxesInFront) {
  const VoxelGrid grid = MakeGrid(Shape{4, 5}, Spacing{0.5, 2.0});
  EXPECT_EQ(grid.size, (std::array<int64_t, 3>{1, 4, 5}));
  EXPECT_EQ(grid.spacing, (std::array<double, 3>{1.0, 0.5, 2.0}));
  EXPECT_EQ(grid.num_voxels(), 20);
  EXPECT_EQ(MakeGrid(Shape{7}).size, (std::array<int64_t, 3>{1, 1, 7}));
  EXPECT_EQ(MakeGrid(Shape{2, 3, 4}).stride(0), 12);
  EXPECT_EQ(MakeGrid(Shape{2, 3, 4}).stride(1), 4);
}

TEST(MakeGrid, NamesWhatIsWrong) {
  const auto refused = [](const Shape& shape, const Spacing& spacing, const char* part) {
    testing::ExpectError(ErrorCode::kInvalidArgument, {part}, [&] { MakeGrid(shape, spacing); });
  };
  refused({}, {}, "0 axes");
  refused({1, 2, 3, 4}, {}, "4 axes");
  refused({3, 0}, {}, "extent 0");
  refused({3, 4}, {1.0}, "1 spacings for 2 axes");
  refused({3, 4}, {1.0, 0.0}, "spacing 0");
  refused({3, 4}, {-1.0, 1.0}, "spacing -1");
  refused({3, 4}, {std::nan(""), 1.0}, "spacing nan");
  refused({3, 4}, {INFINITY, 1.0}, "spacing inf");
}

TEST(VoxelGrid, DiagonalIsThatOfTheWholeImageWithoutFlatAxes) {
  // The value that brain tumour challenges give a missing structure.
  EXPECT_NEAR(MakeGrid(Shape{240, 240, 155}).Diagonal(), 373.1287, 1e-4);
  EXPECT_DOUBLE_EQ(MakeGrid(Shape{1, 3, 4}, Spacing{9.0, 2.0, 2.0}).Diagonal(), 10.0);
  EXPECT_EQ(MakeGrid(Shape{1}).Diagonal(), 0.0);
}

TEST(ForEachVoxel, VisitsABoxInOrder) {
  const VoxelGrid grid = MakeGrid(Shape{2, 3, 4});
  const VoxelBox box{.begin = {1, 0, 2}, .end = {2, 2, 4}};
  std::vector<std::pair<int64_t, int64_t>> visited;
  ForEachVoxel(grid, box, [&](int64_t v, int64_t inside) { visited.emplace_back(v, inside); });
  EXPECT_EQ(visited,
            (std::vector<std::pair<int64_t, int64_t>>{{14, 0}, {15, 1}, {18, 2}, {19, 3}}));
  EXPECT_EQ(CropGrid(grid, box).size, (std::array<int64_t, 3>{1, 2, 2}));
  EXPECT_EQ(box.num_voxels(), 4);
  EXPECT_TRUE(VoxelBox{}.empty());
}

}  // namespace
}  // namespace segcal
