// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace segcal {

// Small symmetric matrices, for the steps of many small problems: what Eigen, compiled for every
// machine, takes several times as long for. Rows are `stride` values apart, a multiple of
// kGramLanes, and 64-byte aligned. Only entries from the diagonal on count; those before it, and
// those behind the last column, may be any finite values.
inline constexpr int64_t kGramLanes = 16;

// The row stride of a matrix of this size.
constexpr int64_t GramStride(int64_t size) noexcept {
  return (size + kGramLanes - 1) / kGramLanes * kGramLanes;
}

// gram[i][j] += sum_k rows[k][i] rows[k][j] for j >= i: `count` rows of `size` values, finite up to
// `stride`. Terms are added in float32: error count 2^-24 of the sum of their absolute values.
void AddGram(const float* rows, int64_t count, int64_t size, int64_t stride, float* gram) noexcept;

// Overwrites a symmetric matrix A by U with A = U^T U, 1 / U_ii on the diagonal; false where A is
// not positive definite.
bool FactorCholesky(int64_t size, int64_t stride, double* matrix) noexcept;

// Overwrites x [stride] by the solution y of A y = x, A as factored.
void SolveCholesky(int64_t size, int64_t stride, const double* factor, double* x) noexcept;

}  // namespace segcal
