// SPDX-License-Identifier: Apache-2.0
#include "spatial/boundary.h"

#include "core/check.h"
#include "kernels/tile.h"
#include "spatial/distance.h"

namespace segcal {
namespace {

// Calls pair(v, u) for every two face neighbours v < u of the grid.
template <class Pair>
void ForEachFace(const VoxelGrid& grid, Pair&& pair) {
  const VoxelBox all{.begin = {0, 0, 0}, .end = grid.size};
  for (size_t axis = 0; axis < 3; ++axis) {
    VoxelBox lower = all;
    --lower.end[axis];
    const int64_t stride = grid.stride(axis);
    ForEachVoxel(grid, lower, [&](int64_t v, int64_t) { pair(v, v + stride); });
  }
}

// Calls visit(v) for the voxels of the image's border, some of them more than once.
template <class Visit>
void ForEachBorderVoxel(const VoxelGrid& grid, Visit&& visit) {
  for (size_t axis = 0; axis < 3; ++axis) {
    if (grid.size[axis] == 1) continue;
    for (const int64_t side : {int64_t{0}, grid.size[axis] - 1}) {
      VoxelBox slice{.begin = {0, 0, 0}, .end = grid.size};
      slice.begin[axis] = side;
      slice.end[axis] = side + 1;
      ForEachVoxel(grid, slice, [&](int64_t v, int64_t) { visit(v); });
    }
  }
}

}  // namespace

std::vector<uint8_t> LabelBoundary(const VoxelGrid& grid, std::span<const int32_t> labels) {
  SEGCAL_DCHECK(static_cast<int64_t>(labels.size()) == grid.num_voxels());
  std::vector<uint8_t> boundary(labels.size());
  ForEachFace(grid, [&](int64_t v, int64_t u) {
    const int32_t a = labels[static_cast<size_t>(v)];
    const int32_t b = labels[static_cast<size_t>(u)];
    if (a == b || a == kNoLabel || b == kNoLabel) return;
    boundary[static_cast<size_t>(v)] = boundary[static_cast<size_t>(u)] = 1;
  });
  return boundary;
}

std::vector<int32_t> SquaredBoundaryDistances(const VoxelGrid& grid,
                                              std::span<const int32_t> labels,
                                              int num_threads) {
  return SquaredVoxelDistances(grid, LabelBoundary(grid, labels), num_threads);
}

std::vector<uint8_t> FindSurface(const VoxelGrid& grid, std::span<const uint8_t> set) {
  SEGCAL_DCHECK(static_cast<int64_t>(set.size()) == grid.num_voxels());
  std::vector<uint8_t> surface(set.size());
  const auto mark = [&](int64_t v) {
    surface[static_cast<size_t>(v)] = set[static_cast<size_t>(v)] != 0 ? 1 : 0;
  };
  ForEachFace(grid, [&](int64_t v, int64_t u) {
    const bool a = set[static_cast<size_t>(v)] != 0;
    const bool b = set[static_cast<size_t>(u)] != 0;
    if (a != b) mark(a ? v : u);
  });
  ForEachBorderVoxel(grid, mark);
  if (grid.num_voxels() == 1) mark(0);  // no axis has a border, yet everything else is outside
  return surface;
}

}  // namespace segcal
