// SPDX-License-Identifier: Apache-2.0
#include "data/plane_box.h"

#include <algorithm>

#include "kernels/softmax.h"

namespace segcal {
namespace {

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// Rows 96 bytes further than a multiple of 256: planes as wide as a power of two would otherwise
// have all their rows in the same few sets of the cache.
int64_t RowStride(int64_t columns) { return RoundUp(columns, kStripColumns) + 24; }
static_assert(24 >= 2 * kTreeHalo);

}  // namespace

PlaneGrid MakePlaneGrid(const std::vector<int64_t>& shape) {
  PlaneGrid grid;
  const size_t axes = shape.size();
  if (axes > 0) grid.width = shape[axes - 1];
  if (axes > 1) grid.height = shape[axes - 2];
  for (size_t a = 0; a + 2 < axes; ++a) grid.planes *= shape[a];
  return grid;
}

std::vector<PlaneBox> CutIntoBoxes(const PlaneGrid& grid, int64_t channels, int64_t max_bytes) {
  const int64_t column_bytes =
      channels * (kBoxRows + 2 * kTreeHalo) * static_cast<int64_t>(sizeof(float));
  const int64_t strips = std::max<int64_t>(1, max_bytes / (column_bytes * kStripColumns) - 1);
  const int64_t columns = std::min(grid.width, strips * kStripColumns);
  std::vector<PlaneBox> boxes;
  for (int64_t p = 0; p < grid.planes; ++p) {
    for (int64_t y = 0; y < grid.height; y += kBoxRows) {
      for (int64_t x = 0; x < grid.width; x += columns) {
        boxes.push_back({.plane = p,
                         .y = y,
                         .x = x,
                         .rows = std::min(kBoxRows, grid.height - y),
                         .columns = std::min(columns, grid.width - x)});
      }
    }
  }
  return boxes;
}

int64_t ReflectedIndex(int64_t i, int64_t n) noexcept {
  if (n <= kTreeHalo) return std::clamp<int64_t>(i, 0, n - 1);
  if (i < 0) return -i;
  return i < n ? i : 2 * (n - 1) - i;
}

void PaddedBox::Reserve(int64_t channels, const PlaneBox& box) {
  box_ = box;
  channels_ = channels;
  row_stride_ = RowStride(box.columns);
  const int64_t floats = channels * (box.rows + 2 * kTreeHalo) * row_stride_;
  data_ = reinterpret_cast<float*>(memory_.Reserve(floats * static_cast<int64_t>(sizeof(float))));
  std::fill_n(data_, floats, 0.0f);
}

PaddedPlane PaddedBox::plane() const noexcept {
  return {.channels = channels_,
          .data = data_,
          .row_stride = row_stride_,
          .channel_stride = row_stride_ * (box_.rows + 2 * kTreeHalo)};
}

float* PaddedBox::At(int64_t channel, int64_t y, int64_t x) noexcept {
  const int64_t row = channel * (box_.rows + 2 * kTreeHalo) + y - box_.y + kTreeHalo;
  return data_ + row * row_stride_ + x - box_.x + kTreeHalo;
}

// Every source lies in the box or its halo: the halo reaches as far beyond a side as inside.
void PaddedBox::FillBeyond(const PlaneGrid& grid) {
  const int64_t top = box_.y - kTreeHalo;
  const int64_t bottom = box_.y + box_.rows + kTreeHalo;
  const int64_t left = box_.x - kTreeHalo;
  const int64_t right = box_.x + box_.columns + kTreeHalo;
  for (int64_t c = 0; c < channels_; ++c) {
    for (int64_t y = std::max<int64_t>(top, 0); y < std::min(bottom, grid.height); ++y) {
      const auto fill = [&](int64_t x) { *At(c, y, x) = *At(c, y, ReflectedIndex(x, grid.width)); };
      for (int64_t x = left; x < 0; ++x) fill(x);
      for (int64_t x = grid.width; x < right; ++x) fill(x);
    }
    const auto fill = [&](int64_t y) {
      const float* from = At(c, ReflectedIndex(y, grid.height), left);
      std::copy_n(from, right - left, At(c, y, left));
    };
    for (int64_t y = top; y < 0; ++y) fill(y);
    for (int64_t y = grid.height; y < bottom; ++y) fill(y);
  }
}

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
  const int64_t last = std::min(RoundUp(end, kTileVoxels), reader.num_voxels());
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
