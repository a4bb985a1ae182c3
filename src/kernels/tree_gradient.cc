// SPDX-License-Identifier: Apache-2.0
// What training needs beside temperatures: their loss, and the gradient of the weights.
#include <algorithm>
#include <type_traits>

#include "kernels/dispatch.h"
#include "kernels/tile.h"
#include "kernels/tree.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tree_gradient.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Sums kept in registers: four filters by three taps, 12 multiply-adds for 7 loads; 32 registers
// hold all filters.
constexpr int kTapsAtOnce = 3;
constexpr bool kAllFilters = hn::MaxLanes(DF()) == 16;

HWY_INLINE int64_t FloatLanes() { return static_cast<int64_t>(hn::Lanes(DF())); }

// What a row of voxels needs beside its scores.
struct LossRow {
  alignas(64) float top[kStripColumns];    // the largest score
  alignas(64) float label[kStripColumns];  // the label's score below it, 0 without label
  alignas(64) float loss[kStripColumns];
};

HWY_INLINE void FindTops(const PaddedPlane& plane, const float* scores, float* top) {
  const DF d;
  for (int64_t x = 0; x < kStripColumns; x += FloatLanes()) {
    VF most = hn::LoadU(d, scores + x);
    for (int64_t c = 1; c < plane.channels; ++c)
      most = hn::Max(most, hn::LoadU(d, scores + c * plane.channel_stride + x));
    hn::Store(most, d, top + x);
  }
}

// Loss and its slope by the temperature of one vector of voxels, u = score - largest score:
// log sum exp(u / T) - u_y / T and (u_y - E[u]) / T^2 (LT5).
HWY_INLINE void LossOfVector(const PaddedPlane& plane,
                             const float* scores,
                             const LossRow& row,
                             int64_t x,
                             VF temperature,
                             VF* loss,
                             VF* slope) {
  const DF d;
  const VF top = hn::Load(d, row.top + x);
  const VF label = hn::Load(d, row.label + x);
  const VF beta = hn::Div(hn::Set(d, 1.0f), temperature);
  VF sum = hn::Zero(d);
  VF moment = hn::Zero(d);
  for (int64_t c = 0; c < plane.channels; ++c) {
    const VF u = hn::Sub(hn::LoadU(d, scores + c * plane.channel_stride + x), top);
    VF e = hn::Mul(u, beta);
    ExpNonPositive<1>(d, &e);
    sum = hn::Add(sum, e);
    moment = hn::MulAdd(e, u, moment);
  }
  *loss = hn::NegMulAdd(label, beta, LogPositive(d, sum));
  *slope = hn::Mul(hn::Mul(beta, beta), hn::Sub(label, hn::Div(moment, sum)));
}

void LossKernel(const TreeStrip& strip,
                const int32_t* labels,
                int64_t label_stride,
                int64_t columns,
                const float* temperature,
                float* loss_slopes,
                TreeLoss* total) {
  const DF d;
  const PaddedPlane& plane = strip.scores;
  LossRow row;
  for (int64_t y = 0; y < strip.rows; ++y) {
    const float* scores = plane.data + (y + kTreeHalo) * plane.row_stride + kTreeHalo;
    float* slopes = loss_slopes + y * kStripColumns;
    const int32_t* own = labels + y * label_stride;
    FindTops(plane, scores, row.top);
    for (int64_t x = 0; x < kStripColumns; ++x) {
      const bool labelled = x < columns && own[x] != kNoLabel;
      row.label[x] = labelled ? scores[own[x] * plane.channel_stride + x] - row.top[x] : 0.0f;
    }
    for (int64_t x = 0; x < kStripColumns; x += FloatLanes()) {
      VF loss, slope;
      const VF at = hn::Load(d, temperature + y * kStripColumns + x);
      LossOfVector(plane, scores, row, x, at, &loss, &slope);
      hn::Store(loss, d, row.loss + x);
      hn::Store(slope, d, slopes + x);
    }
    for (int64_t x = 0; x < kStripColumns; ++x) {
      if (x < columns && own[x] != kNoLabel) {
        ++total->count;
        total->loss += static_cast<double>(row.loss[x]);
        total->slope += static_cast<double>(slopes[x]);
      } else {
        slopes[x] = 0.0f;
      }
    }
  }
}

// Sums over a strip of slope times input (LT7) for kFilters filters and the taps whose inputs begin
// at `taps`.
template <int kFilters>
HWY_INLINE void SumTaps(const float* const* taps,
                        int64_t row_stride,
                        int64_t rows,
                        const float* slopes,
                        float (*out)[kTapsAtOnce]) {
  const DF d;
  VF sum[kFilters][kTapsAtOnce];
  for (int f = 0; f < kFilters; ++f) {
    for (int k = 0; k < kTapsAtOnce; ++k) sum[f][k] = hn::Zero(d);
  }
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < kStripColumns; x += FloatLanes()) {
      VF in[kTapsAtOnce];
      for (int k = 0; k < kTapsAtOnce; ++k) in[k] = hn::LoadU(d, taps[k] + y * row_stride + x);
      for (int f = 0; f < kFilters; ++f) {
        const VF slope = hn::Load(d, slopes + f * kStripVoxels + y * kStripColumns + x);
        for (int k = 0; k < kTapsAtOnce; ++k) sum[f][k] = hn::MulAdd(slope, in[k], sum[f][k]);
      }
    }
  }
  for (int f = 0; f < kFilters; ++f) {
    for (int k = 0; k < kTapsAtOnce; ++k) out[f][k] = hn::GetLane(hn::SumOfLanes(d, sum[f][k]));
  }
}

// All taps of kFilters filters. The last group repeats the last tap, whose sums are dropped.
template <int kFilters, int64_t kStep>
HWY_INLINE void AddTaps(const PaddedPlane& plane,
                        int64_t rows,
                        const float* slopes,
                        double* gradient) {
  const int64_t num_taps = plane.channels * kTreeTaps;
  for (int64_t first = 0; first < num_taps; first += kTapsAtOnce) {
    const float* taps[kTapsAtOnce];
    for (int64_t k = 0; k < kTapsAtOnce; ++k) {
      const int64_t tap = std::min(first + k, num_taps - 1);
      const int64_t grid = tap % kTreeTaps;
      taps[k] = plane.data + tap / kTreeTaps * plane.channel_stride +
                grid / 5 * 2 * plane.row_stride + grid % 5 * 2;
    }
    float sums[kFilters][kTapsAtOnce];
    SumTaps<kFilters>(taps, plane.row_stride, rows, slopes, sums);
    const int64_t count = std::min<int64_t>(kTapsAtOnce, num_taps - first);
    for (int64_t k = 0; k < count; ++k) {
      for (int f = 0; f < kFilters; ++f)
        gradient[(first + k) * kStep + f] += static_cast<double>(sums[f][k]);
    }
  }
}

// slopes <- loss_slopes * slopes, and their sum to the bias.
HWY_INLINE void ChainSlopes(const float* loss_slopes, int64_t voxels, float* slopes, double* bias) {
  const DF d;
  VF sum = hn::Zero(d);
  for (int64_t v = 0; v < voxels; v += FloatLanes()) {
    const VF product = hn::Mul(hn::Load(d, loss_slopes + v), hn::Load(d, slopes + v));
    hn::Store(product, d, slopes + v);
    sum = hn::Add(sum, product);
  }
  *bias += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
}

void GradientKernel(const TreeStrip& strip,
                    const TreeWeights& weights,
                    const float* loss_slopes,
                    TreeValues* values,
                    double* gradient) {
  constexpr int64_t kLanes = TreeWeights::kLanes;
  const TreeShape& shape = weights.shape();
  const int64_t voxels = strip.rows * kStripColumns;
  double* bias = gradient + weights.bias_at();
  for (int64_t f = 0; f < shape.score_filters(); ++f)
    ChainSlopes(loss_slopes, voxels, values->slopes[f], bias + f);
  const auto add = [&](auto count, int64_t first) HWY_ATTR {
    AddTaps<decltype(count)::value, kLanes>(
        strip.scores, strip.rows, values->slopes[first], gradient + first);
  };
  using std::integral_constant;
  const bool has_image = shape.has_image();
  if constexpr (kAllFilters) {
    has_image ? add(integral_constant<int, 8>(), 0) : add(integral_constant<int, 7>(), 0);
  } else {
    add(integral_constant<int, 4>(), 0);
    has_image ? add(integral_constant<int, 4>(), 4) : add(integral_constant<int, 3>(), 4);
  }
  if (!has_image) return;
  float* image = values->slopes[kImageLeaf];
  ChainSlopes(loss_slopes, voxels, image, bias + kImageLeaf);
  AddTaps<1, 1>(strip.image, strip.rows, image, gradient + weights.image_at());
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(LossKernel);
HWY_EXPORT(GradientKernel);

void AddTreeLoss(const TreeStrip& strip,
                 const int32_t* labels,
                 int64_t label_stride,
                 int64_t columns,
                 const float* temperature,
                 float* loss_slopes,
                 TreeLoss* total) noexcept {
  SEGCAL_DISPATCH(LossKernel)
  (strip, labels, label_stride, columns, temperature, loss_slopes, total);
}

void AddTreeGradient(const TreeStrip& strip,
                     const TreeWeights& weights,
                     const float* loss_slopes,
                     TreeValues* values,
                     double* gradient) noexcept {
  SEGCAL_DISPATCH(GradientKernel)(strip, weights, loss_slopes, values, gradient);
}

}  // namespace segcal
#endif
