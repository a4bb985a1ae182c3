// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/box_reader.h"

#include <algorithm>

#include "kernels/softmax.h"

namespace segcal {

void BoxReader::Read(const CaseReader& reader, const PlaneBox& box) {
  grid_ = MakePlaneGrid(reader.shape());
  box_ = box;
  scores_.Reserve(reader.num_classes(), box);
  labels_.assign(static_cast<size_t>(box.rows * box.columns), kNoLabel);
  tile_scores_.Reserve(reader.num_classes() * kTileVoxels * static_cast<int64_t>(sizeof(float)));
  const int64_t top = std::max<int64_t>(0, box.y - kTreeHalo);
  const int64_t bottom = std::min(grid_.height, box.y + box.rows + kTreeHalo);
  const int64_t left = std::max<int64_t>(0, box.x - kTreeHalo);
  const int64_t right = std::min(grid_.width, box.x + box.columns + kTreeHalo);
  const int64_t first_row = box.plane * grid_.height;
  // Whole rows follow each other without a gap.
  if (left == 0 && right == grid_.width) {
    ReadRun(reader, (first_row + top) * grid_.width, (first_row + bottom) * grid_.width);
  } else {
    for (int64_t y = top; y < bottom; ++y) {
      const int64_t row = (first_row + y) * grid_.width;
      ReadRun(reader, row + left, row + right);
    }
  }
  scores_.FillBeyond(grid_);
}

// Voxels [begin, end) of the case, by blocks of whole tiles.
void BoxReader::ReadRun(const CaseReader& reader, int64_t begin, int64_t end) {
  const int64_t whole_tiles = (end + kTileVoxels - 1) / kTileVoxels * kTileVoxels;
  const int64_t last = std::min(whole_tiles, reader.num_voxels());
  for (int64_t first = begin / kTileVoxels * kTileVoxels; first < end; first += kBlockVoxels) {
    block_.Read(reader, first, std::min(kBlockVoxels, last - first));
    for (int64_t t = 0; t < block_.num_tiles(); ++t) {
      const Tile tile = block_.PoolTileInto(t, pooling_, &tile_);
      ComputeScores(tile);
      Scatter(
          tile, std::max(begin, tile.first_voxel), std::min(end, tile.first_voxel + tile.count));
    }
  }
}

void BoxReader::ComputeScores(const Tile& tile) {
  auto* scores = reinterpret_cast<float*>(tile_scores_.Reserve(0));
  if (kind_ == ScoreKind::kCanonical) {
    LogSoftmaxTile(tile, 1.0, scores);
    return;
  }
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const double z = static_cast<double>(tile.logits[c * kTileVoxels + v]) + tile.offset[v];
      scores[c * kTileVoxels + v] = static_cast<float>(std::clamp(z, -kScoreLimit, kScoreLimit));
    }
  }
}

// Voxels [begin, end) of a tile to their places, row by row.
void BoxReader::Scatter(const Tile& tile, int64_t begin, int64_t end) {
  const auto* scores = reinterpret_cast<const float*>(tile_scores_.Reserve(0));
  for (int64_t v = begin; v < end;) {
    const int64_t x = v % grid_.width;
    const int64_t y = v / grid_.width - box_.plane * grid_.height;
    const int64_t count = std::min(end - v, grid_.width - x);
    const int64_t in_tile = v - tile.first_voxel;
    for (int64_t c = 0; c < tile.num_classes; ++c)
      std::copy_n(scores + c * kTileVoxels + in_tile, count, scores_.At(c, y, x));
    v += count;
    if (y < box_.y || y >= box_.y + box_.rows) continue;
    const int64_t left = std::max(x, box_.x);
    const int64_t right = std::min(x + count, box_.x + box_.columns);
    if (left >= right) continue;
    std::copy_n(tile.labels + in_tile + left - x,
                right - left,
                labels_.begin() + (y - box_.y) * box_.columns + left - box_.x);
  }
}

}  // namespace segcal
