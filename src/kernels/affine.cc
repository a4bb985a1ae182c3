// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine.h"

#include <algorithm>
#include <type_traits>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/affine.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"
#include "kernels/voxel_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

void ShiftRowKernel(
    const float* from, const double* shift, int64_t count, double limit, float* to) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(dd));
  const auto most = hn::Set(dd, limit);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::PromoteTo(dd, hn::LoadU(half, from + i));
    const auto moved = hn::Add(x, hn::LoadU(dd, shift + i));
    const auto kept = hn::Min(hn::Max(moved, hn::Neg(most)), most);
    hn::StoreU(hn::DemoteTo(half, kept), half, to + i);
  }
  for (; i < count; ++i) {
    const double moved = static_cast<double>(from[i]) + shift[i];
    to[i] = static_cast<float>(std::min(std::max(moved, -limit), limit));
  }
}

// Rows and vectors of voxels handled together: 4 x 2 sums, 2 features and a weight fit the 16
// registers.
constexpr int64_t kRows = kSparseRows;

// The columns of a row of weights: all of them, or those of a list.
struct AllColumns {
  int64_t count;
  HWY_INLINE int64_t operator[](int64_t i) const { return i; }
};
struct ListedColumns {
  const int32_t* columns;
  int64_t count;
  HWY_INLINE int64_t operator[](int64_t i) const { return columns[i]; }
};

ListedColumns ListColumns(const SparsePattern& pattern, int64_t group) {
  const int32_t* begin = pattern.begin.data() + group;
  return {pattern.columns.data() + begin[0], begin[1] - begin[0]};
}

// Adds kR rows for two vectors of voxels at v to what is in `a` and `b`.
template <int64_t kR, class Columns>
HWY_INLINE void AddRows(const float* features,
                        int64_t num_features,
                        Columns columns,
                        const float* weights,
                        int64_t v,
                        VF* a,
                        VF* b) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < columns.count; ++i) {
    const int64_t k = columns[i];
    const VF x = hn::Load(d, features + k * kTileVoxels + v);
    const VF y = hn::Load(d, features + k * kTileVoxels + v + lanes);
    for (int64_t r = 0; r < kR; ++r) {
      const VF w = hn::Set(d, weights[r * num_features + k]);
      a[r] = hn::MulAdd(w, x, a[r]);
      b[r] = hn::MulAdd(w, y, b[r]);
    }
  }
}

// The small part first, so that it is not lost in the sum.
template <int64_t kR, class Columns>
HWY_INLINE void AffineRows(const float* features,
                           int64_t num_features,
                           Columns columns,
                           const float* weights,
                           const float* weights_low,
                           int64_t v,
                           float* rows) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VF a[kR];
  VF b[kR];
  for (int64_t r = 0; r < kR; ++r) a[r] = b[r] = hn::Zero(d);
  if (weights_low != nullptr) AddRows<kR>(features, num_features, columns, weights_low, v, a, b);
  AddRows<kR>(features, num_features, columns, weights, v, a, b);
  for (int64_t r = 0; r < kR; ++r) {
    hn::Store(a[r], d, rows + r * kTileVoxels + v);
    hn::Store(b[r], d, rows + r * kTileVoxels + v + lanes);
  }
}

// columns_of(r) are those of the rows from r on, kRows of them or the last ones.
template <class ColumnsOfRows>
HWY_INLINE void ForEachRows(const float* features,
                            const WeightMatrix& weights,
                            int64_t count,
                            float* rows,
                            ColumnsOfRows columns_of) {
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(DF()));
  const int64_t width = weights.num_columns;
  for (int64_t v = 0; v < count; v += step) {
    const auto add = [&](auto size, int64_t r) HWY_ATTR {
      const float* low = weights.low == nullptr ? nullptr : weights.low + r * width;
      AffineRows<decltype(size)::value>(
          features, width, columns_of(r), weights.high + r * width, low, v, rows + r * kTileVoxels);
    };
    int64_t r = 0;
    for (; r + kRows <= weights.num_rows; r += kRows)
      add(std::integral_constant<int64_t, kRows>(), r);
    for (; r < weights.num_rows; ++r) add(std::integral_constant<int64_t, 1>(), r);
  }
}

void AffineKernel(const float* features, const WeightMatrix& weights, int64_t count, float* rows) {
  if (weights.pattern == nullptr) {
    const AllColumns all{weights.num_columns};
    ForEachRows(features, weights, count, rows, [&](int64_t) HWY_ATTR { return all; });
  } else {
    const SparsePattern& pattern = *weights.pattern;
    ForEachRows(features, weights, count, rows, [&](int64_t r) HWY_ATTR {
      return ListColumns(pattern, r / kRows);
    });
  }
}

// Vectors of voxels whose exponentials are computed together.
constexpr int kTogether = hn::MaxLanes(DF()) * 4 <= kAffineLanes ? 4 : 2;

// The scores' exponentials relative to the largest go to `probs`; their sum and the largest score.
HWY_INLINE void ExpRows(
    const float* scores, int64_t num_classes, float* probs, VF* largest, VF* sum) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int k = 0; k < kTogether; ++k) {
    largest[k] = hn::Load(d, scores + k * lanes);
    sum[k] = hn::Zero(d);
  }
  for (int64_t c = 1; c < num_classes; ++c) {
    const float* row = scores + c * kTileVoxels;
    for (int k = 0; k < kTogether; ++k)
      largest[k] = hn::Max(largest[k], hn::Load(d, row + k * lanes));
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    const int64_t at = c * kTileVoxels;
    VF e[kTogether];
    for (int k = 0; k < kTogether; ++k)
      e[k] = hn::Sub(hn::Load(d, scores + at + k * lanes), largest[k]);
    ExpNonPositive<kTogether>(d, e);
    for (int k = 0; k < kTogether; ++k) {
      sum[k] = hn::Add(sum[k], e[k]);
      hn::Store(e[k], d, probs + at + k * lanes);
    }
  }
}

void SoftmaxScoresKernel(const float* scores,
                         const int32_t* labels,
                         int64_t num_classes,
                         int64_t count,
                         const TileProbs& out) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(64) float label_score[kTileVoxels];
  GatherLabelRow(scores, labels, label_score);
  for (int64_t v = 0; v < count; v += kTogether * lanes) {
    VF largest[kTogether];
    VF sum[kTogether];
    ExpRows(scores + v, num_classes, out.probs + v, largest, sum);
    for (int k = 0; k < kTogether; ++k) {
      const int64_t at = v + k * lanes;
      const VF inverse = hn::Div(hn::Set(d, 1.0f), sum[k]);
      for (int64_t c = 0; c < num_classes; ++c) {
        float* q = out.probs + c * kTileVoxels + at;
        hn::Store(hn::Mul(hn::Load(d, q), inverse), d, q);
      }
      const VF score = hn::Sub(hn::Load(d, label_score + at), largest[k]);
      const auto labelled = hn::Gt(hn::Load(di, labels + at), hn::Set(di, kNoLabel));
      const VF log_label = hn::Sub(score, LogPositive(d, sum[k]));
      hn::Store(hn::IfThenElseZero(hn::RebindMask(d, labelled), log_label), d, out.log_label + at);
    }
  }
}

void ResidualKernel(const int32_t* labels, int64_t num_classes, int64_t count, float* probs) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  for (int64_t v = 0; v < count; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto label = hn::Load(di, labels + v);
    const auto labelled = hn::RebindMask(d, hn::Gt(label, hn::Set(di, kNoLabel)));
    for (int64_t c = 0; c < num_classes; ++c) {
      float* q = probs + c * kTileVoxels + v;
      const auto own = hn::RebindMask(d, hn::Eq(label, hn::Set(di, static_cast<int32_t>(c))));
      const VF residual = hn::Sub(hn::Load(d, q), hn::IfThenElseZero(own, hn::Set(d, 1.0f)));
      hn::Store(hn::IfThenElseZero(labelled, residual), d, q);
    }
  }
}

// Dot products of kA rows with the kB rows that are columns[first], columns[first + 1], ...
template <int64_t kA, int64_t kB, class Columns>
HWY_INLINE void OuterBlock(const float* a,
                           const float* b,
                           int64_t num_b,
                           Columns columns,
                           int64_t first,
                           int64_t count,
                           double* sums) {
  const DF d;
  VF dot[kA][kB];
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j) dot[i][j] = hn::Zero(d);
  }
  for (int64_t v = 0; v < count; v += static_cast<int64_t>(hn::Lanes(d))) {
    VF x[kB];
    for (int64_t j = 0; j < kB; ++j) x[j] = hn::Load(d, b + columns[first + j] * kTileVoxels + v);
    for (int64_t i = 0; i < kA; ++i) {
      const VF y = hn::Load(d, a + i * kTileVoxels + v);
      for (int64_t j = 0; j < kB; ++j) dot[i][j] = hn::MulAdd(y, x[j], dot[i][j]);
    }
  }
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j) {
      sums[i * num_b + columns[first + j]] +=
          static_cast<double>(hn::GetLane(hn::SumOfLanes(d, dot[i][j])));
    }
  }
}

template <int64_t kA, int64_t kB, class Columns>
HWY_INLINE void OuterRows(
    const float* a, const float* b, int64_t num_b, Columns columns, int64_t count, double* sums) {
  int64_t k = 0;
  for (; k + kB <= columns.count; k += kB) OuterBlock<kA, kB>(a, b, num_b, columns, k, count, sums);
  for (; k < columns.count; ++k) OuterBlock<kA, 1>(a, b, num_b, columns, k, count, sums);
}

// Groups of kA rows with kB columns at a time, and what is left over; columns_of as above.
template <int64_t kA, int64_t kB, class ColumnsOfRows>
HWY_INLINE void OuterGroups(const float* a,
                            int64_t num_a,
                            const float* b,
                            int64_t num_b,
                            int64_t count,
                            double* sums,
                            ColumnsOfRows columns_of) {
  int64_t r = 0;
  for (; r + kA <= num_a; r += kA) {
    OuterRows<kA, kB>(a + r * kTileVoxels, b, num_b, columns_of(r), count, sums + r * num_b);
  }
  for (; r < num_a; ++r) {
    OuterRows<1, kB>(a + r * kTileVoxels, b, num_b, columns_of(r), count, sums + r * num_b);
  }
}

void OuterKernel(const float* a,
                 int64_t num_a,
                 const float* b,
                 int64_t num_b,
                 int64_t count,
                 double* sums,
                 const SparsePattern* pattern) {
  if (pattern == nullptr) {
    const AllColumns all{num_b};
    OuterGroups<3, 3>(a, num_a, b, num_b, count, sums, [&](int64_t) HWY_ATTR { return all; });
  } else {
    OuterGroups<kSparseRows, 2>(a, num_a, b, num_b, count, sums, [&](int64_t r) HWY_ATTR {
      return ListColumns(*pattern, r / kSparseRows);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {
namespace {

int64_t Rounded(int64_t count) noexcept {
  return (count + kAffineLanes - 1) / kAffineLanes * kAffineLanes;
}

}  // namespace

HWY_EXPORT(ShiftRowKernel);
HWY_EXPORT(AffineKernel);
HWY_EXPORT(SoftmaxScoresKernel);
HWY_EXPORT(ResidualKernel);
HWY_EXPORT(OuterKernel);

void ShiftRow(
    const float* from, const double* shift, int64_t count, double limit, float* to) noexcept {
  SEGCAL_DISPATCH(ShiftRowKernel)(from, shift, count, limit, to);
}

void AffineTile(const float* features,
                const WeightMatrix& weights,
                int64_t count,
                float* rows) noexcept {
  SEGCAL_DISPATCH(AffineKernel)(features, weights, Rounded(count), rows);
}

void SoftmaxScores(const float* scores,
                   const int32_t* labels,
                   int64_t num_classes,
                   int64_t count,
                   const TileProbs& out) noexcept {
  SEGCAL_DISPATCH(SoftmaxScoresKernel)(scores, labels, num_classes, Rounded(count), out);
}

void ResidualTile(const int32_t* labels,
                  int64_t num_classes,
                  int64_t count,
                  float* probs) noexcept {
  SEGCAL_DISPATCH(ResidualKernel)(labels, num_classes, Rounded(count), probs);
}

void AddOuterProduct(const float* a,
                     int64_t num_a,
                     const float* b,
                     int64_t num_b,
                     int64_t count,
                     double* sums,
                     const SparsePattern* pattern) noexcept {
  SEGCAL_DISPATCH(OuterKernel)(a, num_a, b, num_b, Rounded(count), sums, pattern);
}

}  // namespace segcal
#endif
