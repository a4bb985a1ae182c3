// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace segcal {

// A voxel held aside to find the threshold of Meta-Cal. Its priority is a function of the seed and
// of the voxel's place: the voxels with the lowest ones are a random sample, the same for any
// number of threads.
struct HeldVoxel {
  uint64_t priority = 0;
  double entropy = 0.0;
  bool correct = false;
};

// The "higher" (1 - alpha) quantile of the entropies (MC2); at least one.
double MisCoverageThreshold(std::vector<double> entropies, double alpha);

// The entropy below which the voxels are right as often as wanted (MC3-MC5): from 20 quantile bins
// of the held voxels, an isotonic decreasing map from accuracy to entropy. No value: all voxels
// together are right that often. Where no threshold is enough, `reached` is the best accuracy.
struct AccuracyThreshold {
  std::optional<double> gamma;
  std::optional<double> reached;
};
AccuracyThreshold FindAccuracyThreshold(std::vector<HeldVoxel> held, double accuracy);

}  // namespace segcal
