// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine_exact.h"

#include <algorithm>
#include <cmath>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/affine_exact.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DX = hn::ScalableTag<double>;
using VX = hn::Vec<DX>;
using HX = hn::Rebind<float, DX>;

HWY_INLINE int64_t ExactLanes() { return static_cast<int64_t>(hn::Lanes(DX())); }
HWY_INLINE VX LoadFloats(const float* from) { return hn::PromoteTo(DX(), hn::Load(HX(), from)); }

// Rows and vectors of voxels handled together, as in affine.cc.
constexpr int64_t kExactRows = kSparseRows;
constexpr int64_t kExactVectors = hn::MaxLanes(DX()) == 8 ? 4 : 2;

// kR rows at v; their columns are columns[0], ..., or where that is null 0, ..., num_columns.
template <int64_t kR>
HWY_INLINE void ExactRows(const float* features,
                          const double* weights,
                          int64_t width,
                          const int32_t* columns,
                          int64_t num_columns,
                          int64_t v,
                          double* rows) {
  const DX d;
  VX sum[kR][kExactVectors];
  for (int64_t r = 0; r < kR; ++r) {
    for (int64_t j = 0; j < kExactVectors; ++j) sum[r][j] = hn::Zero(d);
  }
  for (int64_t i = 0; i < num_columns; ++i) {
    const int64_t k = columns == nullptr ? i : columns[i];
    VX x[kExactVectors];
    for (int64_t j = 0; j < kExactVectors; ++j)
      x[j] = LoadFloats(features + k * kTileVoxels + v + j * ExactLanes());
    for (int64_t r = 0; r < kR; ++r) {
      const VX w = hn::Set(d, weights[r * width + k]);
      for (int64_t j = 0; j < kExactVectors; ++j) sum[r][j] = hn::MulAdd(w, x[j], sum[r][j]);
    }
  }
  for (int64_t r = 0; r < kR; ++r) {
    for (int64_t j = 0; j < kExactVectors; ++j)
      hn::Store(sum[r][j], d, rows + r * kTileVoxels + v + j * ExactLanes());
  }
}

void ExactAffineKernel(const float* features,
                       const double* weights,
                       int64_t num_rows,
                       int64_t width,
                       int64_t count,
                       const SparsePattern* pattern,
                       double* rows) {
  for (int64_t v = 0; v < count; v += kExactVectors * ExactLanes()) {
    for (int64_t r = 0; r < num_rows;) {
      const int32_t* columns = nullptr;
      int64_t num_columns = width;
      if (pattern != nullptr) {
        const int32_t* begin = pattern->begin.data() + r / kExactRows;
        columns = pattern->columns.data() + begin[0];
        num_columns = begin[1] - begin[0];
      }
      const double* of_row = weights + r * width;
      double* out = rows + r * kTileVoxels;
      if (r + kExactRows <= num_rows) {
        ExactRows<kExactRows>(features, of_row, width, columns, num_columns, v, out);
        r += kExactRows;
      } else {
        ExactRows<1>(features, of_row, width, columns, num_columns, v, out);
        ++r;
      }
    }
  }
}

void ExactResidualKernel(
    const int32_t* labels, int64_t num_classes, int64_t count, double* scores, double* log_label) {
  const DX d;
  alignas(64) double largest[kTileVoxels];
  alignas(64) double sums[kTileVoxels];
  alignas(64) double own[kTileVoxels];
  for (int64_t v = 0; v < count; ++v) own[v] = scores[std::max(labels[v], 0) * kTileVoxels + v];
  for (int64_t v = 0; v < count; v += ExactLanes()) {
    VX most = hn::Load(d, scores + v);
    for (int64_t c = 1; c < num_classes; ++c)
      most = hn::Max(most, hn::Load(d, scores + c * kTileVoxels + v));
    VX sum = hn::Zero(d);
    for (int64_t c = 0; c < num_classes; ++c) {
      double* at = scores + c * kTileVoxels + v;
      VX e = hn::Sub(hn::Load(d, at), most);
      ExpNonPositiveDouble<1>(d, &e);
      hn::Store(e, d, at);
      sum = hn::Add(sum, e);
    }
    const VX inverse = hn::Div(hn::Set(d, 1.0), sum);
    for (int64_t c = 0; c < num_classes; ++c) {
      double* at = scores + c * kTileVoxels + v;
      hn::Store(hn::Mul(hn::Load(d, at), inverse), d, at);
    }
    hn::Store(most, d, largest + v);
    hn::Store(sum, d, sums + v);
  }
  for (int64_t v = 0; v < count; ++v) {
    log_label[v] = 0.0;
    if (labels[v] == kNoLabel) {
      for (int64_t c = 0; c < num_classes; ++c) scores[c * kTileVoxels + v] = 0.0;
      continue;
    }
    log_label[v] = own[v] - largest[v] - std::log(sums[v]);
    scores[labels[v] * kTileVoxels + v] -= 1.0;
  }
}

// Dot products of kA rows with kB rows.
template <int64_t kA, int64_t kB>
HWY_INLINE void ExactBlock(
    const double* a, const float* b, int64_t num_b, int64_t count, double* sums) {
  const DX d;
  VX dot[kA][kB];
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j) dot[i][j] = hn::Zero(d);
  }
  for (int64_t v = 0; v < count; v += ExactLanes()) {
    VX x[kB];
    for (int64_t j = 0; j < kB; ++j) x[j] = LoadFloats(b + j * kTileVoxels + v);
    for (int64_t i = 0; i < kA; ++i) {
      const VX y = hn::Load(d, a + i * kTileVoxels + v);
      for (int64_t j = 0; j < kB; ++j) dot[i][j] = hn::MulAdd(y, x[j], dot[i][j]);
    }
  }
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j)
      sums[i * num_b + j] += hn::GetLane(hn::SumOfLanes(d, dot[i][j]));
  }
}

// kA rows with all of b.
template <int64_t kA>
HWY_INLINE void ExactStrip(
    const double* a, const float* b, int64_t num_b, int64_t count, double* sums) {
  constexpr int64_t kB = hn::MaxLanes(DX()) == 8 ? 4 : 3;
  int64_t k = 0;
  for (; k + kB <= num_b; k += kB)
    ExactBlock<kA, kB>(a, b + k * kTileVoxels, num_b, count, sums + k);
  for (; k < num_b; ++k) ExactBlock<kA, 1>(a, b + k * kTileVoxels, num_b, count, sums + k);
}

void ExactOuterKernel(
    const double* a, int64_t num_a, const float* b, int64_t num_b, int64_t count, double* sums) {
  constexpr int64_t kA = hn::MaxLanes(DX()) == 8 ? 4 : 3;
  int64_t r = 0;
  for (; r + kA <= num_a; r += kA)
    ExactStrip<kA>(a + r * kTileVoxels, b, num_b, count, sums + r * num_b);
  for (; r < num_a; ++r) ExactStrip<1>(a + r * kTileVoxels, b, num_b, count, sums + r * num_b);
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(ExactAffineKernel);
HWY_EXPORT(ExactResidualKernel);
HWY_EXPORT(ExactOuterKernel);

void AffineTileExact(const float* features,
                     const double* weights,
                     int64_t num_rows,
                     int64_t num_columns,
                     int64_t count,
                     const SparsePattern* pattern,
                     double* rows) noexcept {
  SEGCAL_DISPATCH(ExactAffineKernel)
  (features, weights, num_rows, num_columns, RoundedToAffineLanes(count), pattern, rows);
}

void ResidualExact(const int32_t* labels,
                   int64_t num_classes,
                   int64_t count,
                   double* scores,
                   double* log_label) noexcept {
  SEGCAL_DISPATCH(ExactResidualKernel)
  (labels, num_classes, RoundedToAffineLanes(count), scores, log_label);
}

void AddOuterProductExact(const double* a,
                          int64_t num_a,
                          const float* b,
                          int64_t num_b,
                          int64_t count,
                          double* sums) noexcept {
  SEGCAL_DISPATCH(ExactOuterKernel)(a, num_a, b, num_b, RoundedToAffineLanes(count), sums);
}

}  // namespace segcal
#endif
