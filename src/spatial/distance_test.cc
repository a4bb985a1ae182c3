// SPDX-License-Identifier: Apache-2.0
#include "spatial/distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

std::vector<uint8_t> RandomSources(uint64_t seed, const VoxelGrid& grid, double share) {
  Rng rng(seed, 0);
  std::vector<uint8_t> sources(static_cast<size_t>(grid.num_voxels()));
  for (uint8_t& source : sources) source = rng.Uniform() < share ? 1 : 0;
  return sources;
}

// (DT1) as written: every voxel against every source.
std::vector<double> BruteForceDistance(const VoxelGrid& grid, const std::vector<uint8_t>& sources) {
  const auto at = [&](int64_t v) {
    return std::array<int64_t, 3>{
        v / grid.stride(0), v / grid.stride(1) % grid.size[1], v % grid.size[2]};
  };
  std::vector<double> squared(sources.size(), INFINITY);
  for (int64_t v = 0; v < grid.num_voxels(); ++v) {
    for (int64_t s = 0; s < grid.num_voxels(); ++s) {
      if (sources[static_cast<size_t>(s)] == 0) continue;
      double sum = 0.0;
      for (size_t axis = 0; axis < 3; ++axis) {
        const double d = grid.spacing[axis] * static_cast<double>(at(v)[axis] - at(s)[axis]);
        sum += d * d;
      }
      squared[static_cast<size_t>(v)] = std::min(squared[static_cast<size_t>(v)], sum);
    }
  }
  return squared;
}

struct DistanceShape {
  std::vector<int64_t> size;
  std::vector<double> spacing;
};
const DistanceShape kShapes[] = {
    {{1}, {0.5}},
    {{40}, {2.0}},
    {{17, 23}, {1.0, 0.3}},
    {{1, 33}, {7.0, 1.1}},
    {{33, 1}, {0.7, 9.0}},
    {{7, 9, 11}, {3.0, 0.9, 0.4}},
    {{20, 1, 18}, {0.5, 5.0, 2.5}},
    {{5, 6, 19}, {1e-3, 1.0, 1e3}},
};
constexpr double kShares[] = {0.003, 0.02, 0.3, 0.9, 1.0};

TEST(SquaredVoxelDistances, AreThoseOfBruteForce) {
  for (const DistanceShape& shape : kShapes) {
    const VoxelGrid grid = MakeGrid(shape.size);
    for (const double share : kShares) {
      const std::vector<uint8_t> sources = RandomSources(1, grid, share);
      const std::vector<double> expected = BruteForceDistance(grid, sources);
      const std::vector<int32_t> found = SquaredVoxelDistances(grid, sources, 1);
      for (size_t v = 0; v < found.size(); ++v) {
        const double value = found[v] == kNoSource ? INFINITY : found[v];
        ASSERT_EQ(value, expected[v]) << "voxel " << v << ", share " << share;
      }
    }
  }
}

TEST(SquaredDistances, AreThoseOfBruteForceWithAnySpacing) {
  for (const DistanceShape& shape : kShapes) {
    const VoxelGrid grid = MakeGrid(shape.size, shape.spacing);
    for (const double share : kShares) {
      const std::vector<uint8_t> sources = RandomSources(2, grid, share);
      const std::vector<double> expected = BruteForceDistance(grid, sources);
      const std::vector<double> found = SquaredDistances(grid, sources, 1);
      for (size_t v = 0; v < found.size(); ++v) {
        if (std::isinf(expected[v])) {
          ASSERT_EQ(found[v], expected[v]);
        } else {
          ASSERT_NEAR(found[v], expected[v], 4.0 * 0x1p-52 * expected[v]) << "voxel " << v;
        }
      }
    }
  }
}

// One source in the corner: the distance is the index, also far beyond 2^24.
TEST(SquaredVoxelDistances, AreExactOnLongLines) {
  const VoxelGrid grid = MakeGrid(std::vector<int64_t>{3, 20001});
  std::vector<uint8_t> sources(static_cast<size_t>(grid.num_voxels()));
  sources[0] = 1;
  const std::vector<int32_t> found = SquaredVoxelDistances(grid, sources, 1);
  for (const int32_t x : {0, 1, 5793, 19999, 20000}) {
    EXPECT_EQ(found[static_cast<size_t>(2 * 20001 + x)], x * x + 4);
  }
  const VoxelGrid upright = MakeGrid(std::vector<int64_t>{20001, 3});
  const std::vector<int32_t> turned = SquaredVoxelDistances(upright, sources, 1);
  EXPECT_EQ(turned[static_cast<size_t>(20000 * 3 + 2)], 20000 * 20000 + 4);
}

TEST(SquaredDistances, HaveTheSameBitsForAnyNumberOfThreads) {
  const VoxelGrid grid =
      MakeGrid(std::vector<int64_t>{33, 41, 57}, std::vector<double>{3.0, 0.7, 0.9});
  const std::vector<uint8_t> sources = RandomSources(3, grid, 0.01);
  const std::vector<double> one = SquaredDistances(grid, sources, 1);
  const std::vector<int32_t> one_voxels = SquaredVoxelDistances(grid, sources, 1);
  for (const int threads : {2, 3, 7}) {
    EXPECT_EQ(SquaredDistances(grid, sources, threads), one);
    EXPECT_EQ(SquaredVoxelDistances(grid, sources, threads), one_voxels);
  }
}

TEST(SquaredDistances, WithoutASourceAreInfinite) {
  const VoxelGrid grid = MakeGrid(std::vector<int64_t>{4, 5});
  const std::vector<uint8_t> none(20);
  for (const double d : SquaredDistances(grid, none, 1)) EXPECT_EQ(d, INFINITY);
  for (const int32_t d : SquaredVoxelDistances(grid, none, 1)) EXPECT_EQ(d, kNoSource);
}

TEST(SquaredVoxelDistances, RefuseAnImageWhoseDistancesDoNotFit) {
  const VoxelGrid grid{.size = {1, 46342, 46342}};
  testing::ExpectError(
      ErrorCode::kUnsupported, {"46342", "2^31"}, [&] { SquaredVoxelDistances(grid, {}, 1); });
}

}  // namespace
}  // namespace segcal
