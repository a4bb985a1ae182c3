// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/tile.h"
#include "spatial/grid.h"

namespace segcal {

// How far from the label boundary the region Boundary reaches, in voxels (RG1).
inline constexpr int64_t kBoundaryReach = 2;

// Whether a voxel at this squared distance from the label boundary is in the region Boundary (RG1).
// Whoever asks about a voxel without label gets an answer about its place: leave such voxels out.
constexpr bool InBoundaryRegion(int32_t squared_distance) noexcept {
  return squared_distance <= kBoundaryReach * kBoundaryReach;
}

// Whether a voxel is in the region All: labelled other than background, or in Boundary (RG2).
// background -1: the data set has none, and every labelled voxel is in.
constexpr bool InAllRegion(int32_t label, int32_t squared_distance, int64_t background) noexcept {
  return label != kNoLabel && (label != background || InBoundaryRegion(squared_distance));
}

// Where the patches of the regions Local-Avg and Local-Max lie (RG3): `count` boxes of `side`
// voxels along each axis, uniformly among those inside the image; along an axis shorter than that,
// all of it. The place of patch k is a function of (seed, stream, k) and the grid alone: equal for
// every pipeline, and with its corner scaled, for every size of a sweep.
std::vector<VoxelBox> LocalPatches(
    const VoxelGrid& grid, int64_t side, int64_t count, uint64_t seed, uint64_t stream);

}  // namespace segcal
