// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/losses/batch.h"

namespace segcal::train {

// One voxel of a patch: its position from the patch's first corner, and what it counts.
struct PatchVoxel {
  std::vector<int64_t> at;
  double weight = 1.0;
};
using Patch = std::vector<PatchVoxel>;

// All voxels of a patch of `size` voxels per axis, which count the same.
Patch EvenPatch(int64_t size, int64_t axes);
// The same with weights exp(-d^2 / 2 sigma^2), d the distance from the centre.
Patch GaussianPatch(int64_t size, int64_t axes, double sigma);

// Labels beyond the border: those of the border, or class 0.
enum class PatchPadding { kReplicate, kZero };

// Sum over the patch around every voxel of weight times one-hot label, (N, C, spatial...). The
// labels of ignored voxels are all zero, so these add nothing.
Tensor PatchSums(const Tensor& one_hot, const Patch& patch, int64_t size, PatchPadding padding);

}  // namespace segcal::train
