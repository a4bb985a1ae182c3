// SPDX-License-Identifier: Apache-2.0
#include "spatial/box_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/rng.h"

namespace segcal {
namespace {

int64_t BruteForceSum(const VoxelGrid& grid,
                      const std::array<int64_t, 3>& radius,
                      const std::vector<int64_t>& values,
                      const std::array<int64_t, 3>& at) {
  VoxelBox window;
  for (size_t axis = 0; axis < 3; ++axis) {
    window.begin[axis] = std::max<int64_t>(0, at[axis] - radius[axis]);
    window.end[axis] = std::min(grid.size[axis], at[axis] + radius[axis] + 1);
  }
  int64_t sum = 0;
  ForEachVoxel(grid, window, [&](int64_t v, int64_t) { sum += values[static_cast<size_t>(v)]; });
  return sum;
}

TEST(BoxSums, AreThoseOfTheWindowCutOffAtTheImage) {
  const VoxelGrid grid = MakeGrid(std::vector<int64_t>{4, 9, 13});
  Rng rng(1, 0);
  std::vector<int64_t> values(static_cast<size_t>(grid.num_voxels()));
  for (int64_t& value : values) value = rng.Below(1000) - 500;
  for (const auto& radius : {std::array<int64_t, 3>{0, 0, 0},
                             std::array<int64_t, 3>{1, 2, 3},
                             std::array<int64_t, 3>{3, 0, 12},
                             std::array<int64_t, 3>{100, 100, 1}}) {
    for (const int threads : {1, 3}) {
      std::vector<int64_t> sums = values;
      BoxSums(grid, radius, threads, sums);
      for (int64_t v = 0; v < grid.num_voxels(); ++v) {
        const std::array<int64_t, 3> at = {v / 117, v / 13 % 9, v % 13};
        ASSERT_EQ(sums[static_cast<size_t>(v)], BruteForceSum(grid, radius, values, at));
      }
    }
  }
}

}  // namespace
}  // namespace segcal
