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

// Rows and vectors of voxels handled together: 4 x 2 sums, 2 features and a weight fit 16
// registers, 4 x 4 sums 32.
constexpr bool kWide = hn::MaxLanes(DF()) == 16;
constexpr int64_t kRows = kSparseRows;
constexpr int64_t kVectors = kWide ? 4 : 2;

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

// Adds kR rows for kV vectors of voxels at v to what is in `sum`.
template <int64_t kR, int64_t kV, class Columns>
HWY_INLINE void AddRows(const float* features,
                        int64_t num_features,
                        Columns columns,
                        const float* weights,
                        int64_t v,
                        VF (&sum)[kR][kV]) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < columns.count; ++i) {
    const int64_t k = columns[i];
    VF x[kV];
    for (int64_t j = 0; j < kV; ++j) x[j] = hn::Load(d, features + k * kTileVoxels + v + j * lanes);
    for (int64_t r = 0; r < kR; ++r) {
      const VF w = hn::Set(d, weights[r * num_features + k]);
      for (int64_t j = 0; j < kV; ++j) sum[r][j] = hn::MulAdd(w, x[j], sum[r][j]);
    }
  }
}

// The small part first, so that it is not lost in the sum.
template <int64_t kR, int64_t kV, class Columns>
HWY_INLINE void AffineRows(const float* features,
                           int64_t num_features,
                           Columns columns,
                           const float* weights,
                           const float* weights_low,
                           int64_t v,
                           float* rows) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VF sum[kR][kV];
  for (int64_t r = 0; r < kR; ++r) {
    for (int64_t j = 0; j < kV; ++j) sum[r][j] = hn::Zero(d);
  }
  if (weights_low != nullptr) AddRows<kR, kV>(features, num_features, columns, weights_low, v, sum);
  AddRows<kR, kV>(features, num_features, columns, weights, v, sum);
  for (int64_t r = 0; r < kR; ++r) {
    for (int64_t j = 0; j < kV; ++j)
      hn::Store(sum[r][j], d, rows + r * kTileVoxels + v + j * lanes);
  }
}

// All rows for kV vectors of voxels at v; columns_of(r) are the columns of the rows from r on,
// kRows of them or the last ones.
template <int64_t kV, class ColumnsOfRows>
HWY_INLINE void AffineVoxels(const float* features,
                             const WeightMatrix& weights,
                             int64_t v,
                             float* rows,
                             ColumnsOfRows columns_of) {
  const int64_t width = weights.num_columns;
  const auto add = [&](auto size, int64_t r) HWY_ATTR {
    const float* low = weights.low == nullptr ? nullptr : weights.low + r * width;
    AffineRows<decltype(size)::value, kV>(
        features, width, columns_of(r), weights.high + r * width, low, v, rows + r * kTileVoxels);
  };
  int64_t r = 0;
  for (; r + kRows <= weights.num_rows; r += kRows)
    add(std::integral_constant<int64_t, kRows>(), r);
  for (; r < weights.num_rows; ++r) add(std::integral_constant<int64_t, 1>(), r);
}

template <class ColumnsOfRows>
HWY_INLINE void ForEachRows(const float* features,
                            const WeightMatrix& weights,
                            int64_t count,
                            float* rows,
                            ColumnsOfRows columns_of) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(DF()));
  int64_t v = 0;
  for (; v + kVectors * lanes <= count; v += kVectors * lanes)
    AffineVoxels<kVectors>(features, weights, v, rows, columns_of);
  for (; v < count; v += 2 * lanes) AffineVoxels<2>(features, weights, v, rows, columns_of);
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

// Rows of both factors whose products are summed together: 16 sums and 5 factors fit 32 registers,
// 9 sums and 4 factors fit 16.
constexpr int64_t kSquare = kWide ? 4 : 3;

#if HWY_TARGET != HWY_SCALAR  // which has no such operations
// Lane i of the result is the sum of the lanes of x[i]: halves first, then quarters and so on, as
// SumOfLanes adds them, with two vectors in one from the first step on. A third of the instructions
// of 16 single sums.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SumLanesOf16(D d, const V* x) {
  V halves[8];  // x[i] and x[i + 8], eight lanes each
  for (int i = 0; i < 8; ++i) {
    halves[i] =
        hn::Add(hn::ConcatLowerLower(d, x[i + 8], x[i]), hn::ConcatUpperUpper(d, x[i + 8], x[i]));
  }
  V blocks[4];  // x[i], x[i + 4], x[i + 8] and x[i + 12], four lanes each
  for (int i = 0; i < 4; ++i) {
    const V a = halves[i];
    const V b = halves[i + 4];
    blocks[i] = hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a),
                        hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
  }
  V pairs[2];  // of blocks[2 i] and blocks[2 i + 1], two lanes each, by turns
  for (int i = 0; i < 2; ++i) {
    const V a = blocks[2 * i];
    const V b = blocks[2 * i + 1];
    pairs[i] = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  }
  const hn::RepartitionToWide<D> dw;
  const auto a = hn::BitCast(dw, pairs[0]);
  const auto b = hn::BitCast(dw, pairs[1]);
  return hn::Add(hn::BitCast(d, hn::InterleaveLower(dw, a, b)),
                 hn::BitCast(d, hn::InterleaveUpper(dw, a, b)));
}
#else
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SumLanesOf16(D d, const V*);
#endif

// Fewer sums than this are added up one by one.
constexpr int64_t kFewSums = 6;

// The sum of the lanes of each of kA x kB vectors.
template <int64_t kA, int64_t kB>
HWY_INLINE void SumLanes(const VF (&dot)[kA][kB], float (&sums)[kA][kB]) {
  const DF d;
  if constexpr (kWide && kA * kB >= kFewSums) {
    VF x[16];
    alignas(64) float total[16];
    for (int64_t i = 0; i < 16; ++i) x[i] = i < kA * kB ? dot[i / kB][i % kB] : hn::Zero(d);
    hn::Store(SumLanesOf16(d, x), d, total);
    for (int64_t i = 0; i < kA * kB; ++i) sums[i / kB][i % kB] = total[i];
  } else {
    for (int64_t i = 0; i < kA; ++i) {
      for (int64_t j = 0; j < kB; ++j) sums[i][j] = hn::GetLane(hn::SumOfLanes(d, dot[i][j]));
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
  float total[kA][kB];
  SumLanes<kA, kB>(dot, total);
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j)
      sums[i * num_b + columns[first + j]] += static_cast<double>(total[i][j]);
  }
}

// kA rows with the columns from `first` on, kB at a time, and what is left over.
template <int64_t kA, int64_t kB, class Columns>
HWY_INLINE void OuterRows(const float* a,
                          const float* b,
                          int64_t num_b,
                          Columns columns,
                          int64_t first,
                          int64_t count,
                          double* sums) {
  int64_t k = first;
  for (; k + kB <= columns.count; k += kB) OuterBlock<kA, kB>(a, b, num_b, columns, k, count, sums);
  if constexpr (kB > 1) {
    if (k < columns.count) OuterRows<kA, kB - 1>(a, b, num_b, columns, k, count, sums);
  }
}

// Calls visit(size, r) for groups of kA rows and one of what is left over, size a constant.
template <int64_t kA, class Visit>
HWY_INLINE void ForEachGroup(int64_t num_rows, int64_t r, const Visit& visit) {
  for (; r + kA <= num_rows; r += kA) visit(std::integral_constant<int64_t, kA>(), r);
  if constexpr (kA > 1) {
    if (r < num_rows) ForEachGroup<kA - 1>(num_rows, r, visit);
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
    ForEachGroup<kSquare>(num_a, 0, [&](auto size, int64_t r) HWY_ATTR {
      OuterRows<decltype(size)::value, kSquare>(
          a + r * kTileVoxels, b, num_b, all, 0, count, sums + r * num_b);
    });
  } else {
    ForEachGroup<kSparseRows>(num_a, 0, [&](auto size, int64_t r) HWY_ATTR {
      const ListedColumns columns = ListColumns(*pattern, r / kSparseRows);
      OuterRows<decltype(size)::value, 2>(
          a + r * kTileVoxels, b, num_b, columns, 0, count, sums + r * num_b);
    });
  }
}

void SymmetricKernel(const float* weighted,
                     const float* rows,
                     int64_t num_rows,
                     int64_t count,
                     int64_t stride,
                     double* sums) {
  const AllColumns all{num_rows};
  ForEachGroup<kSquare>(num_rows, 0, [&](auto size, int64_t r) HWY_ATTR {
    OuterRows<decltype(size)::value, kSquare>(
        weighted + r * kTileVoxels, rows, stride, all, r, count, sums + r * stride);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(ShiftRowKernel);
HWY_EXPORT(AffineKernel);
HWY_EXPORT(SoftmaxScoresKernel);
HWY_EXPORT(ResidualKernel);
HWY_EXPORT(OuterKernel);
HWY_EXPORT(SymmetricKernel);

void ShiftRow(
    const float* from, const double* shift, int64_t count, double limit, float* to) noexcept {
  SEGCAL_DISPATCH(ShiftRowKernel)(from, shift, count, limit, to);
}

void AffineTile(const float* features,
                const WeightMatrix& weights,
                int64_t count,
                float* rows) noexcept {
  SEGCAL_DISPATCH(AffineKernel)(features, weights, RoundedToAffineLanes(count), rows);
}

void SoftmaxScores(const float* scores,
                   const int32_t* labels,
                   int64_t num_classes,
                   int64_t count,
                   const TileProbs& out) noexcept {
  SEGCAL_DISPATCH(SoftmaxScoresKernel)
  (scores, labels, num_classes, RoundedToAffineLanes(count), out);
}

void ResidualTile(const int32_t* labels,
                  int64_t num_classes,
                  int64_t count,
                  float* probs) noexcept {
  SEGCAL_DISPATCH(ResidualKernel)(labels, num_classes, RoundedToAffineLanes(count), probs);
}

void AddOuterProduct(const float* a,
                     int64_t num_a,
                     const float* b,
                     int64_t num_b,
                     int64_t count,
                     double* sums,
                     const SparsePattern* pattern) noexcept {
  SEGCAL_DISPATCH(OuterKernel)(a, num_a, b, num_b, RoundedToAffineLanes(count), sums, pattern);
}

void AddSymmetricProduct(const float* weighted,
                         const float* rows,
                         int64_t num_rows,
                         int64_t count,
                         int64_t stride,
                         double* sums) noexcept {
  SEGCAL_DISPATCH(SymmetricKernel)
  (weighted, rows, num_rows, RoundedToAffineLanes(count), stride, sums);
}

}  // namespace segcal
#endif
