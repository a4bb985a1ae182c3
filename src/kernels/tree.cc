// SPDX-License-Identifier: Apache-2.0
#include "kernels/tree.h"

#include <algorithm>

#include "kernels/dispatch.h"
#include "kernels/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tree.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Sums kept in registers: four filters by two vectors of voxels (8 multiply-adds for 6 loads), and
// four filters by three taps (12 for 7). Three vectors leave no register of AVX2 for the weights,
// and are slower.
constexpr int kVectors = 2;
constexpr int kTapsAtOnce = 3;

HWY_INLINE int64_t FloatLanes() { return static_cast<int64_t>(hn::Lanes(DF())); }

// Responses (LT1) of kFilters filters at kVectors vectors of voxels. `corner` is the first voxel of
// their neighbourhood; the weights of a tap lie kStep apart from tap to tap.
template <int kFilters, int64_t kStep>
HWY_INLINE void Respond(const PaddedPlane& plane,
                        const float* corner,
                        const float* weights,
                        const float* bias,
                        float* out) {
  const DF d;
  const int64_t lanes = FloatLanes();
  VF sum[kFilters][kVectors];
  for (int f = 0; f < kFilters; ++f) {
    for (int k = 0; k < kVectors; ++k) sum[f][k] = hn::Set(d, bias[f]);
  }
  for (int64_t c = 0; c < plane.channels; ++c, corner += plane.channel_stride) {
    const float* row = corner;
    for (int i = 0; i < 5; ++i, row += 2 * plane.row_stride) {
      for (int j = 0; j < 5; ++j, weights += kStep) {
        VF x[kVectors];
        for (int k = 0; k < kVectors; ++k) x[k] = hn::LoadU(d, row + 2 * j + k * lanes);
        for (int f = 0; f < kFilters; ++f) {
          const VF w = hn::Set(d, weights[f]);
          for (int k = 0; k < kVectors; ++k) sum[f][k] = hn::MulAdd(w, x[k], sum[f][k]);
        }
      }
    }
  }
  for (int f = 0; f < kFilters; ++f) {
    for (int k = 0; k < kVectors; ++k) hn::Store(sum[f][k], d, out + f * kStripVoxels + k * lanes);
  }
}

template <int kFilters, int64_t kStep>
HWY_INLINE void RespondStrip(
    const PaddedPlane& plane, int64_t rows, const float* weights, const float* bias, float* out) {
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < kStripColumns; x += kVectors * FloatLanes()) {
      Respond<kFilters, kStep>(
          plane, plane.data + y * plane.row_stride + x, weights, bias, out + y * kStripColumns + x);
    }
  }
}

// Responses of all filters, [filter][voxel].
HWY_INLINE void RespondAll(const TreeStrip& strip, const TreeWeights& weights, float* out) {
  constexpr int64_t kLanes = TreeWeights::kLanes;
  const float* packed = weights.scores();
  const float* bias = weights.bias();
  const bool image = weights.shape().has_image();
  RespondStrip<4, kLanes>(strip.scores, strip.rows, packed, bias, out);
  float* gates = out + 4 * kStripVoxels;
  if (image) {
    RespondStrip<4, kLanes>(strip.scores, strip.rows, packed + 4, bias + 4, gates);
    RespondStrip<1, 1>(strip.image,
                       strip.rows,
                       weights.image(),
                       bias + kImageLeaf,
                       out + kImageLeaf * kStripVoxels);
  } else {
    RespondStrip<3, kLanes>(strip.scores, strip.rows, packed + 4, bias + 4, gates);
  }
}

// exp(-|x|)
HWY_INLINE VF ExpMinusAbs(VF x) {
  VF e = hn::Neg(hn::Abs(x));
  ExpNonPositive<1>(DF(), &e);
  return e;
}

HWY_INLINE VF Sigmoid(VF x) {
  const DF d;
  const VF one = hn::Set(d, 1.0f);
  const VF e = ExpMinusAbs(x);
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

// max(x, 0) + log(1 + e^-|x|). What 1 + e rounds away is added again, for small results.
HWY_INLINE VF Softplus(VF x) {
  const DF d;
  const VF one = hn::Set(d, 1.0f);
  const VF e = ExpMinusAbs(x);
  const VF sum = hn::Add(one, e);
  const VF rest = hn::Div(hn::Sub(e, hn::Sub(sum, one)), sum);
  return hn::Add(hn::Max(x, hn::Zero(d)), hn::Add(LogPositive(d, sum), rest));
}

// A value mixed of two, its derivatives by both, and by the response that gates it.
struct Mixed {
  VF value, first, second, gate;
};
HWY_INLINE Mixed Mix(VF response, VF first, VF second) {
  const VF g = Sigmoid(response);
  const VF rest = hn::Sub(hn::Set(DF(), 1.0f), g);
  const VF gap = hn::Sub(first, second);
  return {hn::MulAdd(g, gap, second), g, rest, hn::Mul(hn::Mul(g, rest), gap)};
}

// The temperature (LT3) or (LT4) and its derivative by the root.
struct Root {
  VF temperature, slope;
};
HWY_INLINE Root RootOf(VF value, bool image) {
  const DF d;
  const VF least = hn::Set(d, kMinTemperature);
  if (image) {
    const VF positive = hn::Max(value, hn::Zero(d));
    const VF slope = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), hn::Set(d, 1.0f));
    return {hn::Add(positive, least), slope};
  }
  const VF shifted = hn::Add(value, hn::Set(d, 0.54132485461291807f));  // log(e - 1)
  const VF soft = Softplus(shifted);
  const VF slope = hn::IfThenElseZero(hn::Gt(soft, least), Sigmoid(shifted));
  return {hn::Max(soft, least), slope};
}

// From the responses of one vector of voxels, [filter][voxel], to its temperatures; the responses
// become the temperature's derivatives by them (LT6).
template <bool kSlopes>
HWY_INLINE void Descend(float* at, bool image, float* temperature) {
  const DF d;
  // The leaves of (LT4) stand for their difference from one.
  const VF one = image ? hn::Set(d, 1.0f) : hn::Zero(d);
  const auto response = [&](int64_t f) { return hn::Load(d, at + f * kStripVoxels); };
  const auto leaf = [&](int64_t f) { return hn::Add(response(f), one); };
  const Mixed left = Mix(response(4), leaf(0), leaf(1));
  const Mixed right = Mix(response(5), leaf(2), leaf(3));
  const Mixed both = Mix(response(6), left.value, right.value);
  Mixed top{both.value, hn::Set(d, 1.0f), hn::Zero(d), hn::Zero(d)};
  if (image) {
    // (LT4) gates the image leaf, not the rest, by g4.
    const Mixed with_image = Mix(response(7), leaf(kImageLeaf), both.value);
    top = {with_image.value, with_image.second, with_image.first, with_image.gate};
  }
  const Root root = RootOf(top.value, image);
  hn::Store(root.temperature, d, temperature);
  if constexpr (kSlopes) {
    const auto store = [&](int64_t f, VF value) { hn::Store(value, d, at + f * kStripVoxels); };
    const VF scores = hn::Mul(root.slope, top.first);
    const VF to_left = hn::Mul(scores, both.first);
    const VF to_right = hn::Mul(scores, both.second);
    store(0, hn::Mul(to_left, left.first));
    store(1, hn::Mul(to_left, left.second));
    store(2, hn::Mul(to_right, right.first));
    store(3, hn::Mul(to_right, right.second));
    store(4, hn::Mul(to_left, left.gate));
    store(5, hn::Mul(to_right, right.gate));
    store(6, hn::Mul(scores, both.gate));
    if (!image) return;
    store(7, hn::Mul(root.slope, top.gate));
    store(kImageLeaf, hn::Mul(root.slope, top.second));
  }
}

template <bool kSlopes>
HWY_INLINE void Temperatures(const TreeStrip& strip, const TreeWeights& weights, TreeValues* out) {
  RespondAll(strip, weights, out->slopes[0]);
  const bool image = weights.shape().has_image();
  for (int64_t v = 0; v < strip.rows * kStripColumns; v += FloatLanes())
    Descend<kSlopes>(out->slopes[0] + v, image, out->temperature + v);
}

void TemperaturePass(const TreeStrip& strip, const TreeWeights& weights, TreeValues* out) {
  Temperatures<false>(strip, weights, out);
}
void SlopePass(const TreeStrip& strip, const TreeWeights& weights, TreeValues* out) {
  Temperatures<true>(strip, weights, out);
}

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

void LossPass(const TreeStrip& strip,
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

void GradientPass(const TreeStrip& strip,
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
  AddTaps<4, kLanes>(strip.scores, strip.rows, values->slopes[0], gradient);
  if (!shape.has_image()) {
    AddTaps<3, kLanes>(strip.scores, strip.rows, values->slopes[4], gradient + 4);
    return;
  }
  AddTaps<4, kLanes>(strip.scores, strip.rows, values->slopes[4], gradient + 4);
  float* image = values->slopes[kImageLeaf];
  ChainSlopes(loss_slopes, voxels, image, bias + kImageLeaf);
  AddTaps<1, 1>(strip.image, strip.rows, image, gradient + weights.image_at());
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(TemperaturePass);
HWY_EXPORT(SlopePass);
HWY_EXPORT(LossPass);
HWY_EXPORT(GradientPass);

void TreeTemperatures(const TreeStrip& strip,
                      const TreeWeights& weights,
                      TreeValues* out) noexcept {
  SEGCAL_DISPATCH(TemperaturePass)(strip, weights, out);
}

void TreeTemperaturesAndSlopes(const TreeStrip& strip,
                               const TreeWeights& weights,
                               TreeValues* out) noexcept {
  SEGCAL_DISPATCH(SlopePass)(strip, weights, out);
}

void AddTreeLoss(const TreeStrip& strip,
                 const int32_t* labels,
                 int64_t label_stride,
                 int64_t columns,
                 const float* temperature,
                 float* loss_slopes,
                 TreeLoss* total) noexcept {
  SEGCAL_DISPATCH(LossPass)
  (strip, labels, label_stride, columns, temperature, loss_slopes, total);
}

void AddTreeGradient(const TreeStrip& strip,
                     const TreeWeights& weights,
                     const float* loss_slopes,
                     TreeValues* values,
                     double* gradient) noexcept {
  SEGCAL_DISPATCH(GradientPass)(strip, weights, loss_slopes, values, gradient);
}

}  // namespace segcal
#endif
