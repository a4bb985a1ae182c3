// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// q = softmax(beta * z) and the label's log-probability for a whole tile. beta >= 0, finite; it is
// rounded to 24 bits.
//
// Maximum error, with u = z - max z: q within (C/4 + 6 + 2 |beta u|) 2^-24 of itself, or 2^-125;
// log probabilities within (C/4 + 6) 2^-24 + 3 |log q| 2^-24. Each row is divided by its own sum,
// so row sums are within (C + 8) 2^-24 of 1. Order is weakly preserved: z_a >= z_b implies q_a >=
// q_b.
void SoftmaxTile(const Tile& tile, double beta, const TileProbs& out) noexcept;

// The same with a temperature per voxel, [kTileVoxels] aligned as tiles are, positive and finite:
// q = softmax(z / T). Errors as above with beta = 1/T.
void LocalSoftmaxTile(const Tile& tile, const float* temperature, const TileProbs& out) noexcept;

// log softmax(beta * z), [num_classes][kTileVoxels]; errors as above.
void LogSoftmaxTile(const Tile& tile, double beta, float* log_probs) noexcept;

// F(z) = log sum_c exp z_c including the offset, [kTileVoxels], in double, within 1e-11.
void FreeEnergyTile(const Tile& tile, double* free_energy) noexcept;

// y_i = exp(x_i), the exp of the kernels: monotone, exact 1 at 0, at most 2 ulp off on [-87.336,
// 0], exact 0 below. For x <= 0 only. Exposed for tests; see math-inl.h for its variant with a
// factor.
void ExpArray(const float* x, int64_t n, float* y) noexcept;

}  // namespace segcal
