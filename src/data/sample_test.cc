// SPDX-License-Identifier: Apache-2.0
#include "data/sample.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

std::string BytesOf(const TileSample& sample) {
  std::string bytes;
  for (int64_t t = 0; t < sample.num_tiles(); ++t) {
    const Tile& tile = sample.tile(t);
    bytes += std::to_string(tile.first_voxel) + " ";
    bytes.append(reinterpret_cast<const char*>(tile.logits),
                 static_cast<size_t>(tile.num_classes * kTileVoxels * 4));
    bytes.append(reinterpret_cast<const char*>(tile.labels), static_cast<size_t>(kTileVoxels * 4));
  }
  return bytes;
}

TEST(SampleTiles, DependsOnTheSeedAndNotOnThreads) {
  const Scene scene = RandomScene({.num_cases = 5, .num_classes = 2, .shape = {97, 111}});
  const auto sample = [&](int threads, uint64_t seed) {
    return BytesOf(SampleTiles(*scene.Stream(threads), {}, 20 * kTileVoxels, seed));
  };
  EXPECT_EQ(sample(1, 4), sample(1, 4));
  EXPECT_EQ(sample(1, 4), sample(3, 4));
  EXPECT_NE(sample(1, 4), sample(1, 5));
}

TEST(SampleTiles, TakesTheSameShareOfEveryCase) {
  const Scene scene = RandomScene({.num_cases = 4, .num_classes = 1, .shape = {100 * kTileVoxels}});
  const TileSample sample = SampleTiles(*scene.Stream(2), {}, 40 * kTileVoxels, 1);
  ASSERT_EQ(sample.num_tiles(), 40);
  // Ten stretches of ten tiles in each case, one tile drawn in each.
  std::set<int64_t> places;
  for (int64_t t = 0; t < 40; ++t) {
    const int64_t tile = sample.tile(t).first_voxel / kTileVoxels;
    EXPECT_EQ(tile / 10, t % 10) << t;
    places.insert(tile % 10);
    EXPECT_EQ(sample.tile(t).count, kTileVoxels);
  }
  EXPECT_GT(places.size(), 3u) << "always the same place of a stretch";
}

TEST(SampleTiles, TakesAllOfASmallDataSet) {
  const Scene scene =
      RandomScene({.num_cases = 2, .num_classes = 2, .shape = {3 * kTileVoxels + 7}});
  const TileSample sample = SampleTiles(*scene.Stream(1), {}, 1 << 20, 1);
  ASSERT_EQ(sample.num_tiles(), 8);
  int64_t voxels = 0;
  for (int64_t t = 0; t < 8; ++t) voxels += sample.tile(t).count;
  EXPECT_EQ(voxels, 2 * scene.num_voxels());
}

TEST(SampleTiles, TakesNoMoreTilesThanAskedForHoweverManyCasesThereAre) {
  const Scene scene = RandomScene({.num_cases = 6, .num_classes = 2, .shape = {2 * kTileVoxels}});
  EXPECT_EQ(SampleTiles(*scene.Stream(2), {}, 1, 1).num_tiles(), 1);
  EXPECT_EQ(SampleTiles(*scene.Stream(2), {}, 4 * kTileVoxels, 1).num_tiles(), 4);
}

TEST(SampleTiles, HoldsTheValuesOfTheStream) {
  const Scene scene =
      RandomScene({.num_cases = 1, .num_classes = 1, .shape = {5 * kTileVoxels}, .ignored = 0.5});
  const TileSample sample = SampleTiles(*scene.Stream(1), {}, 2 * kTileVoxels, 3);
  ASSERT_EQ(sample.num_tiles(), 2);
  for (int64_t t = 0; t < 2; ++t) {
    const Tile& tile = sample.tile(t);
    for (int64_t v = 0; v < tile.count; ++v) {
      const auto at = static_cast<size_t>(tile.first_voxel + v);
      ASSERT_EQ(tile.offset[v], static_cast<double>(scene.logits[0][0][at]));
      ASSERT_EQ(tile.labels[v], scene.labels[0][at] == 255 ? kNoLabel : scene.labels[0][at]);
    }
  }
}

}  // namespace
}  // namespace segcal
