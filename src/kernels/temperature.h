// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// Sums over the labelled voxels of a tile at inverse temperature beta, with u = z - max z and
// q = softmax(beta u):
//   loss  = log sum_c exp(beta u_c) - beta u_y                       (T2)
//   slope = E_q[u] - u_y                                            (T3)
//   curvature = Var_q[u]                                            (T4)
//   skew  = third central moment of u under q, the third derivative (T5)
struct TemperatureSums {
  int64_t count = 0;
  double loss = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
  double skew = 0.0;
};

// Adds the sums of one tile. beta >= 0; it is used to full double precision.
//
// Maximum error: loss 2e-7 (log-sums + |beta u_y| + number of voxels), slope 2e-7 (|E u| + |u_y|),
// curvature (C + 10) 1e-7 of itself, skew (C + 10) 4e-7 of the third absolute moment, all summed
// over the voxels.
void AddTemperatureSums(const Tile& tile, double beta, TemperatureSums* sums) noexcept;

// Facts about a tile's labels that decide the degenerate ends of temperature scaling.
struct LabelMargins {
  int64_t count = 0;           // labelled voxels
  int64_t below_max = 0;       // of them, those whose label's logit is below the maximum
  double slope_at_zero = 0.0;  // sum of mean_c u_c - u_y: the slope (T3) at beta = 0
};
void AddLabelMargins(const Tile& tile, LabelMargins* margins) noexcept;

}  // namespace segcal
