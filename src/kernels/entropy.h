// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/tile.h"

namespace segcal {

// Entropy of softmax(z) in nats, [kTileVoxels]. With u = z - max z and s the sum of exp(u_c) over
// all classes but one of the largest,
//   H = log(1 + s) - sum_c u_c exp(u_c) / (1 + s),                                          (MC1)
// two terms that are not negative: within (C + 20) 2^-24 of itself or C 2e-36, also where a softmax
// is 1 to rounding.
void EntropyTile(const Tile& tile, double* entropy) noexcept;

}  // namespace segcal
