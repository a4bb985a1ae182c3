// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace segcal {

// Bands of distance to the label boundary, in voxels or in the units the distances have:
// [0, 3) [3, 7) [7, 15) [15, inf) (BA3).
inline constexpr std::array<double, 3> kBandEdges = {3.0, 7.0, 15.0};
inline constexpr int64_t kNumBands = 4;

// The band of a squared distance, in [0, kNumBands); the last one if there is no boundary.
constexpr int64_t FindBand(double squared_distance) noexcept {
  int64_t band = 0;
  for (const double edge : kBandEdges) band += squared_distance >= edge * edge ? 1 : 0;
  return band;
}

// The same in voxels; "no boundary" is above all edges.
constexpr int32_t FindBandInVoxels(int32_t squared_distance) noexcept {
  int32_t band = 0;
  for (const double edge : kBandEdges)
    band += squared_distance >= static_cast<int32_t>(edge * edge) ? 1 : 0;
  return band;
}

}  // namespace segcal
