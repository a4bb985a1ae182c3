// SPDX-License-Identifier: Apache-2.0
#include "spatial/regions.h"

#include <gtest/gtest.h>

#include <set>

#include "spatial/boundary.h"
#include "spatial/distance.h"

namespace segcal {
namespace {

TEST(Regions, BoundaryReachesTwoVoxelsAndAllAddsTheForeground) {
  const std::vector<int32_t> labels = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, kNoLabel};
  const VoxelGrid grid = MakeGrid(std::vector<int64_t>{11});
  const std::vector<int32_t> squared = SquaredBoundaryDistances(grid, labels, 1);
  std::vector<int> boundary;
  std::vector<int> all;
  for (size_t v = 0; v < labels.size(); ++v) {
    boundary.push_back(InBoundaryRegion(squared[v]) ? 1 : 0);
    all.push_back(InAllRegion(labels[v], squared[v], /*background=*/0) ? 1 : 0);
    EXPECT_EQ(InAllRegion(labels[v], squared[v], /*background=*/-1), labels[v] != kNoLabel);
  }
  EXPECT_EQ(boundary, (std::vector<int>{0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(all, (std::vector<int>{0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0}));
}

TEST(Regions, BoundaryIsEmptyWhereLabelsHaveNone) { EXPECT_FALSE(InBoundaryRegion(kNoSource)); }

TEST(LocalPatches, LieInsideTheImageAndReachAllOfIt) {
  const VoxelGrid grid = MakeGrid(std::vector<int64_t>{5, 9, 20});
  const std::vector<VoxelBox> patches = LocalPatches(grid, 6, 2000, 1, 2);
  ASSERT_EQ(patches.size(), 2000u);
  std::set<int64_t> rows;
  std::set<int64_t> columns;
  for (const VoxelBox& patch : patches) {
    EXPECT_EQ(patch.begin[0], 0);  // shorter than the patch
    EXPECT_EQ(patch.end[0], 5);
    EXPECT_EQ(patch.end[1] - patch.begin[1], 6);
    EXPECT_EQ(patch.end[2] - patch.begin[2], 6);
    rows.insert(patch.begin[1]);
    columns.insert(patch.begin[2]);
  }
  EXPECT_EQ(rows, (std::set<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(columns.size(), 15u);
  EXPECT_EQ(*columns.begin(), 0);
  EXPECT_EQ(*columns.rbegin(), 14);
}

TEST(LocalPatches, DependOnSeedAndStream) {
  const VoxelGrid grid = MakeGrid(std::vector<int64_t>{100, 100});
  const auto corner = [&](uint64_t seed, uint64_t stream) {
    return LocalPatches(grid, 8, 1, seed, stream)[0].begin;
  };
  EXPECT_EQ(corner(1, 1), corner(1, 1));
  EXPECT_NE(corner(1, 1), corner(2, 1));
  EXPECT_NE(corner(1, 1), corner(1, 2));
}

}  // namespace
}  // namespace segcal
