// SPDX-License-Identifier: Apache-2.0
#include "spatial/box_sums.h"

#include <algorithm>
#include <vector>

#include "core/check.h"
#include "core/parallel.h"

namespace segcal {
namespace {

// Lines side by side that share one pass: 8 values of 64 bits fill a cache line.
constexpr int64_t kBoxLines = 8;

// Window sums along `lines` adjacent lines of n values, `stride` apart; `before` has room for
// (n + 1) * kBoxLines.
void SumLines(
    int64_t* at, int64_t lines, int64_t n, int64_t stride, int64_t radius, int64_t* before) {
  for (int64_t i = 0; i < lines; ++i) before[i] = 0;
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t i = 0; i < lines; ++i) {
      before[(p + 1) * kBoxLines + i] = before[p * kBoxLines + i] + at[p * stride + i];
    }
  }
  for (int64_t p = 0; p < n; ++p) {
    const int64_t* low = before + std::max<int64_t>(0, p - radius) * kBoxLines;
    const int64_t* high = before + (p + std::min(radius, n - 1 - p) + 1) * kBoxLines;
    for (int64_t i = 0; i < lines; ++i) at[p * stride + i] = high[i] - low[i];
  }
}

}  // namespace

void BoxSums(const VoxelGrid& grid,
             const std::array<int64_t, 3>& radius,
             int num_threads,
             std::span<int64_t> values) {
  SEGCAL_DCHECK(static_cast<int64_t>(values.size()) == grid.num_voxels());
  if (num_threads <= 0) num_threads = AvailableThreads();
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t n = grid.size[axis];
    if (n == 1 || radius[axis] == 0) continue;
    const int64_t stride = grid.stride(axis);
    const int64_t blocks = (stride + kBoxLines - 1) / kBoxLines;
    std::vector<std::vector<int64_t>> room(
        static_cast<size_t>(num_threads),
        std::vector<int64_t>(static_cast<size_t>((n + 1) * kBoxLines)));
    ParallelFor(grid.num_voxels() / (n * stride) * blocks, num_threads, [&](int64_t item, int w) {
      const int64_t first = item % blocks * kBoxLines;
      int64_t* at = values.data() + item / blocks * n * stride + first;
      SumLines(at,
               std::min(kBoxLines, stride - first),
               n,
               stride,
               radius[axis],
               room[static_cast<size_t>(w)].data());
    });
  }
}

}  // namespace segcal
