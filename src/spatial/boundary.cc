// SPDX-License-Identifier: Apache-2.0
#include "spatial/boundary.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/parallel.h"
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

// Rows that one thread marks at a time.
constexpr int64_t kRowsAtOnce = 64;

// Marks voxels of a row whose label differs from that of their neighbour in `others`; where one of
// both has none there is no difference. Without branches, so that the compiler makes vectors of it.
void MarkDifferent(const int32_t* labels, const int32_t* others, int64_t n, uint8_t* marks) {
  static_assert(kNoLabel < 0);
  for (int64_t x = 0; x < n; ++x) {
    const bool differs = (labels[x] != others[x]) & ((labels[x] | others[x]) >= 0);
    marks[x] = static_cast<uint8_t>(marks[x] | (differs ? 1 : 0));
  }
}

// All neighbours of row `row` of the image, which has size[0] x size[1] rows.
void MarkRow(const VoxelGrid& grid, int64_t row, const int32_t* labels, uint8_t* marks) {
  const int64_t n = grid.size[2];
  const int32_t* here = labels + row * n;
  uint8_t* out = marks + row * n;
  MarkDifferent(here, here + 1, n - 1, out);
  MarkDifferent(here + 1, here, n - 1, out + 1);
  const std::array<int64_t, 2> at = {row / grid.size[1], row % grid.size[1]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t stride = grid.stride(axis);
    if (at[axis] > 0) MarkDifferent(here, here - stride, n, out);
    if (at[axis] + 1 < grid.size[axis]) MarkDifferent(here, here + stride, n, out);
  }
}

}  // namespace

std::vector<uint8_t> LabelBoundary(const VoxelGrid& grid,
                                   std::span<const int32_t> labels,
                                   int num_threads) {
  SEGCAL_DCHECK(static_cast<int64_t>(labels.size()) == grid.num_voxels());
  std::vector<uint8_t> boundary(labels.size());
  const int64_t rows = grid.size[0] * grid.size[1];
  ParallelFor((rows + kRowsAtOnce - 1) / kRowsAtOnce, num_threads, [&](int64_t item, int) {
    const int64_t end = std::min(rows, (item + 1) * kRowsAtOnce);
    for (int64_t row = item * kRowsAtOnce; row < end; ++row)
      MarkRow(grid, row, labels.data(), boundary.data());
  });
  return boundary;
}

std::vector<int32_t> SquaredBoundaryDistances(const VoxelGrid& grid,
                                              std::span<const int32_t> labels,
                                              int num_threads) {
  return SquaredVoxelDistances(grid, LabelBoundary(grid, labels, num_threads), num_threads);
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
