// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// Steps between the dense layers of a small network, on full tiles: `channels` rows of kTileVoxels
// floats. Plain loops: beside the dense layers (kernels/affine.h) they cost little.

// sums[c] += sum_v u, sums[channels + c] += sum_v u^2, in double.
void AddChannelSums(const float* u, int64_t channels, double* sums) noexcept;

// out = max(0, scale_c u + shift_c).
void ScaleShiftRelu(
    const float* u, int64_t channels, const float* scale, const float* shift, float* out) noexcept;

// The gradient through a rectifier that gave `active`: delta is zeroed where active is. Then
// sums[c] += sum_v delta, sums[channels + c] += sum_v delta u, in double.
void ReluBack(
    const float* active, const float* u, int64_t channels, float* delta, double* sums) noexcept;

// delta = a_c delta + b_c u + k_c, the gradient through a normalisation (SS7); abk is
// [3][channels].
void NormaliseBack(const float* u, int64_t channels, const float* abk, float* delta) noexcept;

}  // namespace segcal
