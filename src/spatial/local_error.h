// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/bins.h"
#include "spatial/grid.h"

namespace segcal {

// A map of local calibration error (RG4): at every voxel the top-label ECE of the window of
// `radius` voxels to either side along each axis, cut off at the image. Voxels of kNoLabel take no
// part in it; NaN where a window holds no other voxel. Within 1e-9 of (RG4), then rounded to float;
// 22 bytes of memory per voxel.
std::vector<float> LocalCalibrationError(const VoxelGrid& grid,
                                         std::span<const float> confidence,
                                         std::span<const uint16_t> predicted,
                                         std::span<const int32_t> labels,
                                         const BinEdges& edges,
                                         int64_t radius,
                                         int num_threads);

}  // namespace segcal
