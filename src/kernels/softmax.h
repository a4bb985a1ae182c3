// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// q = softmax(beta * z) and the label's log-probability for a whole tile. beta >= 0, finite.
// Maximum error: see softmax.cc, tested in softmax_test.cc. Each row is divided by its own sum, so row
// sums are within (C + 8) 2^-24 of 1. Order is weakly preserved: z_a >= z_b implies q_a >= q_b.
void SoftmaxTile(const Tile& tile, double beta, const TileProbs& out) noexcept;

// log softmax(beta * z), [num_classes][kTileVoxels].
void LogSoftmaxTile(const Tile& tile, double beta, float* log_probs) noexcept;

// F(z) = log sum_c exp z_c including the offset, [kTileVoxels], in double.
void FreeEnergyTile(const Tile& tile, double* free_energy) noexcept;

// y_i = exp(x_i), the exp of every kernel: monotone, exact 1 at 0, at most 2 ulp off on
// [-87.336, 0], exact 0 below. For x <= 0 only. Exposed for tests.
void ExpArray(const float* x, int64_t n, float* y) noexcept;

}  // namespace segcal
