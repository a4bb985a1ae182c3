// SPDX-License-Identifier: Apache-2.0
#include "kernels/tree.h"

#include <type_traits>

#include "kernels/dispatch.h"

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

// Sums kept in registers: four filters by two vectors of voxels, 8 multiply-adds for 6 loads. Three
// vectors leave no register of AVX2 for the weights, and are slower. 32 registers hold all filters:
// each voxel is loaded once.
constexpr int kVectors = 2;
constexpr bool kAllFilters = hn::MaxLanes(DF()) == 16;

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
  const auto respond = [&](auto count, int64_t first) HWY_ATTR {
    RespondStrip<decltype(count)::value, kLanes>(
        strip.scores, strip.rows, packed + first, bias + first, out + first * kStripVoxels);
  };
  using std::integral_constant;
  if constexpr (kAllFilters) {
    image ? respond(integral_constant<int, 8>(), 0) : respond(integral_constant<int, 7>(), 0);
  } else {
    respond(integral_constant<int, 4>(), 0);
    image ? respond(integral_constant<int, 4>(), 4) : respond(integral_constant<int, 3>(), 4);
  }
  if (!image) return;
  RespondStrip<1, 1>(
      strip.image, strip.rows, weights.image(), bias + kImageLeaf, out + kImageLeaf * kStripVoxels);
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
HWY_INLINE Root EvaluateRoot(VF value, bool image) {
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
  const Root root = EvaluateRoot(top.value, image);
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

void TemperatureKernel(const TreeStrip& strip, const TreeWeights& weights, TreeValues* out) {
  Temperatures<false>(strip, weights, out);
}
void SlopeKernel(const TreeStrip& strip, const TreeWeights& weights, TreeValues* out) {
  Temperatures<true>(strip, weights, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(TemperatureKernel);
HWY_EXPORT(SlopeKernel);

void TreeTemperatures(const TreeStrip& strip,
                      const TreeWeights& weights,
                      TreeValues* out) noexcept {
  SEGCAL_DISPATCH(TemperatureKernel)(strip, weights, out);
}

void TreeTemperaturesAndSlopes(const TreeStrip& strip,
                               const TreeWeights& weights,
                               TreeValues* out) noexcept {
  SEGCAL_DISPATCH(SlopeKernel)(strip, weights, out);
}

}  // namespace segcal
#endif
