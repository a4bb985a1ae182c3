// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spatial/grid.h"

namespace segcal {

// Not zero where a voxel lies on the boundary between two labels: a face neighbour (4 in 2-D, 6 in
// 3-D) has another label (BA1). Both sides are boundary; neither the border of the image nor a
// neighbour without a label makes one, and voxels of kNoLabel are never boundary.
std::vector<uint8_t> LabelBoundary(const VoxelGrid& grid,
                                   std::span<const int32_t> labels,
                                   int num_threads = 1);

// Squared distance in voxels of every voxel to the label boundary (BA2), 0 on it; kNoSource
// everywhere if the labels have no boundary.
std::vector<int32_t> SquaredBoundaryDistances(const VoxelGrid& grid,
                                              std::span<const int32_t> labels,
                                              int num_threads);

// Not zero on the surface of a set of voxels: in the set, with a face neighbour outside it. What
// lies beyond the image is outside, so a set that is not empty has a surface. Axes of extent 1 have
// no faces: a single slice is a 2-D image. In an image of one voxel that voxel is the surface.
std::vector<uint8_t> FindSurface(const VoxelGrid& grid, std::span<const uint8_t> set);

}  // namespace segcal
