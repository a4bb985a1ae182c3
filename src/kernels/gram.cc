// SPDX-License-Identifier: Apache-2.0
#include "kernels/gram.h"

#include <algorithm>
#include <cmath>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gram.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;

HWY_INLINE int64_t DoubleLanes() { return static_cast<int64_t>(hn::Lanes(DD())); }
HWY_INLINE int64_t FloatLanes() { return static_cast<int64_t>(hn::Lanes(DF())); }

// Sums kept in registers: six rows by four vectors where there are 32 registers, by two else.
constexpr int64_t kGramRows = 6;
constexpr int64_t kGramVectors = hn::MaxLanes(DF()) == 16 ? 4 : 2;

// Products of kA columns from `a` on with kB vectors of columns from `b` on.
template <int64_t kA, int64_t kB>
HWY_INLINE void GramBlock(
    const float* rows, int64_t count, int64_t stride, int64_t a, int64_t b, float* gram) {
  const DF d;
  VF sum[kA][kB];
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j)
      sum[i][j] = hn::Load(d, gram + (a + i) * stride + b + j * FloatLanes());
  }
  for (int64_t k = 0; k < count; ++k, rows += stride) {
    VF y[kB];
    for (int64_t j = 0; j < kB; ++j) y[j] = hn::Load(d, rows + b + j * FloatLanes());
    for (int64_t i = 0; i < kA; ++i) {
      const VF x = hn::Set(d, rows[a + i]);
      for (int64_t j = 0; j < kB; ++j) sum[i][j] = hn::MulAdd(x, y[j], sum[i][j]);
    }
  }
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j)
      hn::Store(sum[i][j], d, gram + (a + i) * stride + b + j * FloatLanes());
  }
}

// kA rows of the matrix from `a` on, kB vectors of columns at a time from the one at b on.
template <int64_t kA, int64_t kB>
HWY_INLINE void GramStrip(
    const float* rows, int64_t count, int64_t stride, int64_t a, int64_t b, float* gram) {
  const int64_t step = kB * FloatLanes();
  for (; b + step <= stride; b += step) GramBlock<kA, kB>(rows, count, stride, a, b, gram);
  if constexpr (kB > 1) {
    if (b < stride) GramStrip<kA, kB - 1>(rows, count, stride, a, b, gram);
  }
}

template <int64_t kA>
HWY_INLINE void GramStrips(
    const float* rows, int64_t count, int64_t size, int64_t stride, int64_t a, float* gram) {
  for (; a + kA <= size; a += kA) {
    const int64_t b = a / FloatLanes() * FloatLanes();
    GramStrip<kA, kGramVectors>(rows, count, stride, a, b, gram);
  }
  if constexpr (kA > 1) {
    if (a < size) GramStrips<kA - 1>(rows, count, size, stride, a, gram);
  }
}

void GramKernel(const float* rows, int64_t count, int64_t size, int64_t stride, float* gram) {
  GramStrips<kGramRows>(rows, count, size, stride, 0, gram);
}

// The vector that holds value k begins here.
HWY_INLINE int64_t VectorOf(int64_t k) { return k / DoubleLanes() * DoubleLanes(); }

// to[j] -= factor * from[j] from the vector of `first` on.
HWY_INLINE void SubtractRow(
    const double* from, double factor, int64_t first, int64_t stride, double* to) {
  const DD d;
  const VD f = hn::Set(d, factor);
  for (int64_t j = VectorOf(first); j < stride; j += DoubleLanes())
    hn::Store(hn::NegMulAdd(f, hn::Load(d, from + j), hn::Load(d, to + j)), d, to + j);
}

bool FactorKernel(int64_t size, int64_t stride, double* matrix) {
  const DD d;
  for (int64_t k = 0; k < size; ++k) {
    double* row = matrix + k * stride;
    if (!(row[k] > 0.0)) return false;
    const double inverse = 1.0 / std::sqrt(row[k]);
    for (int64_t j = VectorOf(k); j < stride; j += DoubleLanes())
      hn::Store(hn::Mul(hn::Set(d, inverse), hn::Load(d, row + j)), d, row + j);
    for (int64_t i = k + 1; i < size; ++i) SubtractRow(row, row[i], i, stride, matrix + i * stride);
    row[k] = inverse;
  }
  return true;
}

// U^T y = x from the first value on, then U z = y from the last. The vector that holds the diagonal
// goes value by value: what is before the diagonal is not of U.
void SolveKernel(int64_t size, int64_t stride, const double* factor, double* x) {
  const DD d;
  for (int64_t k = 0; k < size; ++k) {
    const double* row = factor + k * stride;
    const int64_t next = VectorOf(k) + DoubleLanes();
    x[k] *= row[k];
    for (int64_t j = k + 1; j < next; ++j) x[j] -= row[j] * x[k];
    SubtractRow(row, x[k], next, stride, x);
  }
  std::fill(x + size, x + stride, 0.0);
  for (int64_t k = size - 1; k >= 0; --k) {
    const double* row = factor + k * stride;
    const int64_t next = VectorOf(k) + DoubleLanes();
    VD dot = hn::Zero(d);
    for (int64_t j = next; j < stride; j += DoubleLanes())
      dot = hn::MulAdd(hn::Load(d, row + j), hn::Load(d, x + j), dot);
    double sum = hn::GetLane(hn::SumOfLanes(d, dot));
    for (int64_t j = k + 1; j < next; ++j) sum += row[j] * x[j];
    x[k] = (x[k] - sum) * row[k];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(GramKernel);
HWY_EXPORT(FactorKernel);
HWY_EXPORT(SolveKernel);

void AddGram(const float* rows, int64_t count, int64_t size, int64_t stride, float* gram) noexcept {
  SEGCAL_DISPATCH(GramKernel)(rows, count, size, stride, gram);
}

bool FactorCholesky(int64_t size, int64_t stride, double* matrix) noexcept {
  return SEGCAL_DISPATCH(FactorKernel)(size, stride, matrix);
}

void SolveCholesky(int64_t size, int64_t stride, const double* factor, double* x) noexcept {
  SEGCAL_DISPATCH(SolveKernel)(size, stride, factor, x);
}

}  // namespace segcal
#endif
