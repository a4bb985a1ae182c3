// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "spatial/grid.h"

namespace segcal {

// Squared distance in voxels where there is no source to be near to.
inline constexpr int32_t kNoSource = std::numeric_limits<int32_t>::max();

// Exact squared Euclidean distance (DT1) from every voxel to the nearest source, centre to centre;
// 0 on a source. `sources` has one byte per voxel of the grid, not zero where there is one.
//
// Linear time, one array the size of the result and some lines per thread of memory. Every line is
// computed alone, so the bits do not depend on num_threads (0: all available).

// In voxels, whatever the grid's spacing: an integer. kNoSource without any source. An Error if the
// grid is so large (sides beyond 26,000 in 3-D, 32,000 in 2-D) that 32 bits do not hold it.
std::vector<int32_t> SquaredVoxelDistances(const VoxelGrid& grid,
                                           std::span<const uint8_t> sources,
                                           int num_threads);

// In the units of the grid's spacing, within 4 units in the last place. Infinite without any
// source.
std::vector<double> SquaredDistances(const VoxelGrid& grid,
                                     std::span<const uint8_t> sources,
                                     int num_threads);

}  // namespace segcal
