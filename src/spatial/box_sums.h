// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "spatial/grid.h"

namespace segcal {

// Replaces every value by the sum over the window of `radius` voxels to either side along each
// axis, cut off at the image. Integers, so that sums by difference are exact; the sum of all
// absolute values must stay below 2^63. Linear time whatever the radius.
void BoxSums(const VoxelGrid& grid,
             const std::array<int64_t, 3>& radius,
             int num_threads,
             std::span<int64_t> values);

}  // namespace segcal
