// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/tile.h"
#include "measures/bins.h"

namespace segcal {

// Confidence and correctness in ten equal bins (lo, hi], binned as the metrics do it: what fits
// choose and are judged by.
class Reliability {
 public:
  Reliability();

  // n voxels with these confidences, at most kTileVoxels.
  void Add(const float* confidence, const uint8_t* correct, int64_t n);
  static constexpr auto SumFields() { return std::tuple(&Reliability::bins_); }

  int64_t count() const { return TotalCount(bins_); }
  // Expected calibration error (E3); NaN without voxels.
  double Error() const { return BinnedError(bins_, count(), Norm::kMean); }
  const std::vector<Bin>& bins() const noexcept { return bins_; }

 private:
  std::vector<Bin> bins_;
};

// The largest emitted probability of voxel v, values kTileVoxels apart.
float LargestProb(const Tile& tile, int64_t v, const float* probs);

}  // namespace segcal
