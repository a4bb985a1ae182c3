// SPDX-License-Identifier: Apache-2.0
#include "data/plane_box.h"

#include <algorithm>

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

}  // namespace segcal
