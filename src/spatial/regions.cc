// SPDX-License-Identifier: Apache-2.0
#include "spatial/regions.h"

#include <algorithm>

#include "core/check.h"
#include "core/rng.h"

namespace segcal {

std::vector<VoxelBox> LocalPatches(
    const VoxelGrid& grid, int64_t side, int64_t count, uint64_t seed, uint64_t stream) {
  SEGCAL_DCHECK(side >= 1);
  Rng rng(seed, stream);
  std::vector<VoxelBox> patches(static_cast<size_t>(count));
  for (VoxelBox& patch : patches) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const int64_t extent = std::min(side, grid.size[axis]);
      patch.begin[axis] = rng.Below(grid.size[axis] - extent + 1);
      patch.end[axis] = patch.begin[axis] + extent;
    }
  }
  return patches;
}

}  // namespace segcal
