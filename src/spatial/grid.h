// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace segcal {

// The voxels of a case as a block of up to three axes in C order: the last axis is contiguous.
// Cases with fewer axes have leading axes of extent 1, which geometry does not see.
struct VoxelGrid {
  std::array<int64_t, 3> size = {1, 1, 1};
  std::array<double, 3> spacing = {1.0, 1.0, 1.0};  // between voxel centres, physical units

  int64_t num_voxels() const noexcept { return size[0] * size[1] * size[2]; }
  // How far apart in memory neighbours along an axis are.
  int64_t stride(size_t axis) const noexcept {
    return axis == 2 ? 1 : axis == 1 ? size[2] : size[1] * size[2];
  }
  // The length that the whole image spans, corner to corner.
  double Diagonal() const noexcept;
};

// A grid of one to three axes; spacing is empty (all 1) or has one entry per axis. An Error names
// what is wrong: too many axes, an extent below one, a spacing that is not positive and finite.
VoxelGrid MakeGrid(std::span<const int64_t> shape, std::span<const double> spacing = {});

// Part of a grid: voxels [begin, end) of each axis. Empty unless begin < end everywhere.
struct VoxelBox {
  std::array<int64_t, 3> begin = {0, 0, 0};
  std::array<int64_t, 3> end = {0, 0, 0};

  bool empty() const noexcept {
    return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2];
  }
  bool Holds(int64_t z, int64_t y, int64_t x) const noexcept {
    return z >= begin[0] && z < end[0] && y >= begin[1] && y < end[1] && x >= begin[2] &&
           x < end[2];
  }
  int64_t num_voxels() const noexcept {
    return empty() ? 0 : (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
};

// The voxels of a box as a grid of their own, with the same spacing.
VoxelGrid CropGrid(const VoxelGrid& grid, const VoxelBox& box);

// Calls visit(voxel in the grid, voxel in the box) for the voxels of a box, in C order.
template <class Visit>
void ForEachVoxel(const VoxelGrid& grid, const VoxelBox& box, Visit&& visit) {
  int64_t inside = 0;
  for (int64_t z = box.begin[0]; z < box.end[0]; ++z) {
    for (int64_t y = box.begin[1]; y < box.end[1]; ++y) {
      const int64_t row = (z * grid.size[1] + y) * grid.size[2];
      for (int64_t x = box.begin[2]; x < box.end[2]; ++x) visit(row + x, inside++);
    }
  }
}

}  // namespace segcal
