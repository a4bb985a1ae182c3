// SPDX-License-Identifier: Apache-2.0
#include "data/repeats.h"

#include <gtest/gtest.h>

#include <vector>

namespace segcal {
namespace {

// A tile of two classes in which no voxel equals its neighbour, until told so.
class TestTile {
 public:
  TestTile() : logits_(2 * kTileVoxels), offset_(kTileVoxels) {
    for (int64_t v = 0; v < kTileVoxels; ++v)
      Set(v, -static_cast<float>(v % 7), 1.0 + static_cast<double>(v));
  }
  void Set(int64_t v, float gap, double offset) {
    logits_[static_cast<size_t>(v)] = 0.0f;
    logits_[static_cast<size_t>(kTileVoxels + v)] = gap;
    offset_[static_cast<size_t>(v)] = offset;
  }
  void Fill(int64_t begin, int64_t end, float gap, double offset) {
    for (int64_t v = begin; v < end; ++v) Set(v, gap, offset);
  }
  Repeats Find(int64_t count = kTileVoxels) const {
    Tile tile;
    tile.num_classes = 2;
    tile.count = count;
    tile.logits = logits_.data();
    tile.offset = offset_.data();
    return FindRepeats(tile);
  }

 private:
  std::vector<float> logits_;
  std::vector<double> offset_;
};

TEST(FindRepeats, FindsNoneWhereNeighboursDiffer) {
  EXPECT_EQ(TestTile().Find().voxels, 0);
  EXPECT_EQ(TestTile().Find().example, -1);
}

TEST(FindRepeats, CountsRunsFromTheShortestOn) {
  TestTile tile;
  tile.Fill(10, 10 + kRepeatRun - 1, -1.0f, 0.5);
  EXPECT_EQ(tile.Find().voxels, 0);
  tile.Fill(10, 10 + kRepeatRun, -1.0f, 0.5);
  EXPECT_EQ(tile.Find().voxels, kRepeatRun);
  EXPECT_EQ(tile.Find().example, 10);
}

TEST(FindRepeats, AddsRunsAndShowsTheFirst) {
  TestTile tile;
  tile.Fill(200, 256, -2.0f, 0.5);
  tile.Fill(40, 80, -1.0f, 0.5);
  EXPECT_EQ(tile.Find().voxels, 96);
  EXPECT_EQ(tile.Find().example, 40);
}

TEST(FindRepeats, TellsOffsetsAndGapsApart) {
  TestTile other_offset;
  other_offset.Fill(0, 20, -1.0f, 0.5);
  other_offset.Fill(20, 40, -1.0f, 0.75);
  EXPECT_EQ(other_offset.Find().voxels, 0);
  TestTile other_gap;
  other_gap.Fill(0, 20, -1.0f, 0.5);
  other_gap.Fill(20, 40, -1.5f, 0.5);
  EXPECT_EQ(other_gap.Find().voxels, 0);
}

TEST(FindRepeats, LeavesOutPadding) {
  TestTile tile;
  tile.Fill(0, kTileVoxels, 0.0f, 0.0);
  EXPECT_EQ(tile.Find(kRepeatRun - 1).voxels, 0);
  EXPECT_EQ(tile.Find(40).voxels, 40);
  EXPECT_EQ(tile.Find().voxels, kTileVoxels);
}

}  // namespace
}  // namespace segcal
