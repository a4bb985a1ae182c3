// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace segcal {

// Squared distances in voxels while they are being found: less than kFarSquared, or that.
inline constexpr uint32_t kFarVoxels = 65535;
inline constexpr uint32_t kFarSquared = kFarVoxels * kFarVoxels;

// Squared distance along the columns of a plane to the nearest voxel of the same column whose
// source is not zero, for `width` columns side by side of `height` voxels `stride` apart. Sides are
// below 46341 voxels.
void ScanColumns(const uint8_t* sources,
                 int64_t width,
                 int64_t height,
                 int64_t stride,
                 uint32_t* squared) noexcept;

// How far NearestInRow looks, and what must lie on both sides of a row: so many kFarSquared.
inline constexpr int64_t kRowReach = 128;
inline constexpr int64_t kRowMargin = kRowReach + 64;

// out[x] = min over x' of squared[x'] + (x - x')^2 for a row of n values, if no result needs an x'
// beyond kRowReach; false, with some of `out` written, where one may. `out` has room for n rounded
// up to a multiple of 64.
bool NearestInRow(const uint32_t* squared, int64_t n, uint32_t* out) noexcept;

}  // namespace segcal
