// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/tile.h"

namespace segcal {

// Dense steps of every affine calibrator on one tile. Rows are kTileVoxels floats apart and 64-byte
// aligned; matrices are dense, row by row, float32. Only the first `count` voxels, rounded up to a
// multiple of kAffineLanes, are touched: the lanes in between must hold finite numbers and no
// label.
inline constexpr int64_t kAffineLanes = 32;

// The voxels of whole vectors that hold `count` of them.
constexpr int64_t RoundedToAffineLanes(int64_t count) noexcept {
  return (count + kAffineLanes - 1) / kAffineLanes * kAffineLanes;
}

// to[i] = from[i] + shift[i], rounded to float32 once, and no larger than `limit` in size. Any
// alignment, any count.
void ShiftRow(
    const float* from, const double* shift, int64_t count, double limit, float* to) noexcept;

// Where a matrix is not zero, by groups of kSparseRows rows: the columns with an entry in one of
// them.
inline constexpr int64_t kSparseRows = 4;
struct SparsePattern {
  std::vector<int32_t> begin;  // [group + 1], in `columns`
  std::vector<int32_t> columns;
};

// Weights [num_rows][num_columns] and what is left of them in double, if that counts; where there
// is a pattern they are zero outside.
struct WeightMatrix {
  const float* high = nullptr;
  const float* low = nullptr;
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  const SparsePattern* pattern = nullptr;
};

// rows[r] = sum_k weights[r][k] features[k]. Where low parts are given, high + low are used, so
// that parameters count to double precision in a fit. Error of one value: (num_columns + 1) 2^-24
// of the sum of the absolute terms. A pattern changes no bit, for finite features.
void AffineTile(const float* features,
                const WeightMatrix& weights,
                int64_t count,
                float* rows) noexcept;

// Softmax of scores, any finite float32: probs[c], and the label's log-probability (0 without
// label). probs may be the scores themselves. Maximum error: 2e-6 of a probability, 1e-6 (1 + |log
// q|) of a log-probability.
void SoftmaxScores(const float* scores,
                   const int32_t* labels,
                   int64_t num_classes,
                   int64_t count,
                   const TileProbs& out) noexcept;

// Turns probabilities into the residual q - e_y, 0 at voxels without label.
void ResidualTile(const int32_t* labels, int64_t num_classes, int64_t count, float* probs) noexcept;

// sums[r * num_b + k] += sum_v a[r][v] b[k][v], in double across tiles. Inside a tile, terms are
// added in float32, 32 at most per lane: error 2^-19 of the sum of the absolute terms. With a
// pattern, for its groups of rows and columns only.
void AddOuterProduct(const float* a,
                     int64_t num_a,
                     const float* b,
                     int64_t num_b,
                     int64_t count,
                     double* sums,
                     const SparsePattern* pattern = nullptr) noexcept;

// The same where weighted[r] = w rows[r], lane by lane with the same w for all rows, so that the
// result is symmetric: sums[r * stride + k] for k >= r. Entries before the diagonal are left or get
// any value.
void AddSymmetricProduct(const float* weighted,
                         const float* rows,
                         int64_t num_rows,
                         int64_t count,
                         int64_t stride,
                         double* sums) noexcept;

}  // namespace segcal
