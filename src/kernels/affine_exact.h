// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/affine.h"

namespace segcal {

// The steps of affine.h in double, from the same float32 features, for maps of so few voxels that
// the rounding of float32 would be left in their mean. Weights in double need no remainder: about a
// third more time, where float32 takes every weight in two parts. Rows are kTileVoxels apart.

// rows[r] = sum_k weights[r][k] features[k]; a pattern as in AffineTile. Error of one value:
// (num_columns + 1) 2^-53 of the sum of the absolute terms.
void AffineTileExact(const float* features,
                     const double* weights,
                     int64_t num_rows,
                     int64_t num_columns,
                     int64_t count,
                     const SparsePattern* pattern,
                     double* rows) noexcept;

// Turns scores into the residual q - e_y of their softmax, 0 at voxels without label, and gives the
// label's log-probability (0 without label). Error: 2^-50 of a probability.
void ResidualExact(const int32_t* labels,
                   int64_t num_classes,
                   int64_t count,
                   double* scores,
                   double* log_label) noexcept;

// sums[r * num_b + k] += sum_v a[r][v] b[k][v], for the `count` first voxels.
void AddOuterProductExact(const double* a,
                          int64_t num_a,
                          const float* b,
                          int64_t num_b,
                          int64_t count,
                          double* sums) noexcept;

}  // namespace segcal
