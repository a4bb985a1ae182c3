// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/losses/patch.h"

namespace segcal::train {

// Weights of the voxels around the centre of a patch of three per axis, which sum to one; the
// centre has none (LO8).
Patch NeighbourWeights(int64_t axes, double sigma);

// The labels that svls draws to, (N, C, spatial...); no gradient passes (LO9).
Tensor SpatiallySmoothLabels(const LossBatch& batch, double sigma);

}  // namespace segcal::train
