// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "kernels/tree.h"

namespace segcal {

// A case as a stack of planes along its first axis: an image is one plane, a row an image of height
// one.
struct PlaneGrid {
  int64_t planes = 1;
  int64_t height = 1;
  int64_t width = 1;
};
PlaneGrid MakePlaneGrid(const std::vector<int64_t>& shape);

// A part of one plane.
struct PlaneBox {
  int64_t plane = 0;
  int64_t y = 0;
  int64_t x = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

// Height and, but for its last part, a divisor of the width of boxes: whole strips.
inline constexpr int64_t kBoxRows = 4 * kStripRows;

// The planes cut into boxes of kBoxRows rows, as wide as `max_bytes` allow for `channels` values
// per voxel with their halo; at least kStripColumns wide.
std::vector<PlaneBox> CutIntoBoxes(const PlaneGrid& grid, int64_t channels, int64_t max_bytes);

// Beyond a side of n voxels: index i reflected at the edge voxel, which is not repeated, or for n
// <= kTreeHalo the edge repeated. i within kTreeHalo of the side.
int64_t ReflectedIndex(int64_t i, int64_t n) noexcept;

// Channels of a box with their halo, rows long enough for strips to read past the last column;
// what lies there is 0.
class PaddedBox {
 public:
  void Reserve(int64_t channels, const PlaneBox& box);
  PaddedPlane plane() const noexcept;
  // The value of voxel (y, x) of the plane, anywhere in the box or its halo.
  float* At(int64_t channel, int64_t y, int64_t x) noexcept;
  // Fills the halo beyond the sides of the plane from what is inside it.
  void FillBeyond(const PlaneGrid& grid);

 private:
  AlignedBuffer memory_;
  float* data_ = nullptr;
  PlaneBox box_;
  int64_t channels_ = 0;
  int64_t row_stride_ = 0;
};

}  // namespace segcal
