// SPDX-License-Identifier: Apache-2.0
#include "spatial/local_error.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/check.h"
#include "spatial/box_sums.h"

namespace segcal {
namespace {

// Steps of confidence: 2^-30 leaves room for 2^33 voxels in 63 bits. A sum of rounded terms is off
// by half a step per voxel at most, and so is a mean.
constexpr double kStep = 0x1p-30;

}  // namespace

std::vector<float> LocalCalibrationError(const VoxelGrid& grid,
                                         std::span<const float> confidence,
                                         std::span<const uint16_t> predicted,
                                         std::span<const int32_t> labels,
                                         const BinEdges& edges,
                                         int64_t radius,
                                         int num_threads) {
  const size_t n = labels.size();
  SEGCAL_DCHECK(static_cast<int64_t>(n) == grid.num_voxels());
  SEGCAL_DCHECK(confidence.size() == n && predicted.size() == n);
  const std::array<int64_t, 3> window = {radius, radius, radius};
  std::vector<uint16_t> bins(n);
  FindBins(confidence.data(), static_cast<int64_t>(n), edges, bins.data());
  std::vector<int64_t> gaps(n);
  std::vector<int64_t> errors(n);
  for (size_t bin = 0; bin < edges.upper.size(); ++bin) {
    for (size_t v = 0; v < n; ++v) {
      const bool inside = labels[v] != kNoLabel && bins[v] == bin;
      const double gap =
          static_cast<double>(confidence[v]) - (labels[v] == predicted[v] ? 1.0 : 0.0);
      gaps[v] = inside ? std::llrint(gap / kStep) : 0;
    }
    BoxSums(grid, window, num_threads, gaps);
    for (size_t v = 0; v < n; ++v) errors[v] += std::abs(gaps[v]);
  }
  for (size_t v = 0; v < n; ++v) gaps[v] = labels[v] != kNoLabel ? 1 : 0;
  BoxSums(grid, window, num_threads, gaps);
  std::vector<float> map(n, std::numeric_limits<float>::quiet_NaN());
  for (size_t v = 0; v < n; ++v) {
    if (gaps[v] > 0)
      map[v] =
          static_cast<float>(kStep * static_cast<double>(errors[v]) / static_cast<double>(gaps[v]));
  }
  return map;
}

}  // namespace segcal
