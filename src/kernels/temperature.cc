// SPDX-License-Identifier: Apache-2.0
#include "kernels/temperature.h"

#include <algorithm>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/temperature.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"
#include "kernels/voxel_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Rows of values per voxel, in float32 because they are read once more, to be summed in double.
enum MomentRow { kLogSum, kMean, kVariance, kSkew, kLabelLogit, kNumRows };
struct VoxelMoments {
  alignas(64) float rows[kNumRows][kTileVoxels];
};

// Vectors of voxels and classes handled together. The exp of a group goes through a small buffer
// before its moments are summed: one loop doing both has dependency chains so long that the
// processor's window holds only two or three steps (measured on Zen 3: 10 against 7 cycles a
// vector).
constexpr int kGroupVectors = 4;
constexpr int64_t kGroupClasses = 32;

// [class][vector of the group][lane]
struct ExpBuffer {
  alignas(64) float values[kGroupClasses * kGroupVectors * hn::MaxLanes(DF())];
};

// Raw moments sum_c exp(beta u_c) u_c^k of one vector of voxels.
struct RawMoments {
  VF m0, m1, m2, m3;
};

// Exps of classes [first, first + classes) of a group of vectors from voxel v on.
HWY_INLINE void ExpGroup(
    const ScaledExp& exp, const Tile& tile, int64_t v, int64_t first, int64_t classes, float* out) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* logits = tile.logits + first * kTileVoxels + v;
  FetchAhead<kGroupVectors> ahead(tile, first, v);
  for (int64_t c = 0; c < classes; ++c, logits += kTileVoxels, out += kGroupVectors * lanes) {
    ahead.NextClass();
    VF u[kGroupVectors];
    for (int k = 0; k < kGroupVectors; ++k) u[k] = hn::Load(d, logits + k * lanes);
    exp.Apply<kGroupVectors, false>(d, u);
    for (int k = 0; k < kGroupVectors; ++k) hn::Store(u[k], d, out + k * lanes);
  }
}

HWY_INLINE void Accumulate(VF e, VF u, RawMoments* m) {
  const VF eu = hn::Mul(e, u);
  const VF euu = hn::Mul(eu, u);
  m->m0 = hn::Add(m->m0, e);
  m->m1 = hn::Add(m->m1, eu);
  m->m2 = hn::Add(m->m2, euu);
  m->m3 = hn::MulAdd(euu, u, m->m3);
}

// Two vectors at a time: a sum can take its next term only every fourth cycle.
HWY_INLINE void AddMoments(const float* logits, const float* exps, int64_t classes, RawMoments* m) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  RawMoments a = m[0];
  RawMoments b = m[1];
  for (int64_t c = 0; c < classes; ++c, logits += kTileVoxels, exps += kGroupVectors * lanes) {
    Accumulate(hn::Load(d, exps), hn::Load(d, logits), &a);
    Accumulate(hn::Load(d, exps + lanes), hn::Load(d, logits + lanes), &b);
  }
  m[0] = a;
  m[1] = b;
}

// Central moments of one vector of voxels. The largest u is 0 and has weight at least 1/C, so
// mean^2 <= (C - 1) variance: the differences lose at most a factor C.
HWY_INLINE void StoreMoments(const RawMoments& raw, int64_t v, VoxelMoments* out) {
  const DF d;
  const VF inverse = hn::Div(hn::Set(d, 1.0f), raw.m0);
  const VF mean = hn::Mul(raw.m1, inverse);
  const VF second = hn::Mul(raw.m2, inverse);
  const VF third = hn::Mul(raw.m3, inverse);
  const VF variance = hn::Max(hn::NegMulAdd(mean, mean, second), hn::Zero(d));
  // E[u^3] - 3 mean E[u^2] + 2 mean^3 = E[u^3] - mean (E[u^2] + 2 variance)
  const VF skew = hn::NegMulAdd(mean, hn::MulAdd(hn::Set(d, 2.0f), variance, second), third);
  hn::Store(LogPositive(d, raw.m0), d, out->rows[kLogSum] + v);
  hn::Store(mean, d, out->rows[kMean] + v);
  hn::Store(variance, d, out->rows[kVariance] + v);
  hn::Store(skew, d, out->rows[kSkew] + v);
}

HWY_INLINE void GroupMoments(const ScaledExp& exp, const Tile& tile, int64_t v, RawMoments* m) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(DF()));
  ExpBuffer buffer;
  for (int64_t c = 0; c < tile.num_classes; c += kGroupClasses) {
    const int64_t classes = std::min(kGroupClasses, tile.num_classes - c);
    const float* rows = tile.logits + c * kTileVoxels + v;
    ExpGroup(exp, tile, v, c, classes, buffer.values);
    AddMoments(rows, buffer.values, classes, m);
    AddMoments(rows + 2 * lanes, buffer.values + 2 * lanes, classes, m + 2);
  }
}

void TemperatureKernel(const Tile& tile, double beta, TemperatureSums* sums) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const ScaledExp exp(beta);
  const VF zero = hn::Zero(d);
  VoxelMoments moments;
  for (int64_t v = 0; v < kTileVoxels; v += kGroupVectors * lanes) {
    const RawMoments none{zero, zero, zero, zero};
    RawMoments raw[kGroupVectors] = {none, none, none, none};
    GroupMoments(exp, tile, v, raw);
    for (int k = 0; k < kGroupVectors; ++k) StoreMoments(raw[k], v + k * lanes, &moments);
  }
  GatherLabelRow(tile.logits, tile.labels, moments.rows[kLabelLogit]);
  double total[kNumRows];
  SumLabelled<kNumRows>(moments.rows[0], tile.labels, total);
  const double slope = total[kMean] - total[kLabelLogit];
  // From the beta that float32 holds to the one asked for, to first order: each sum is the
  // derivative of the one before. The next order is below 2^-48 of the terms.
  const double rest = beta - exp.scale();
  sums->count += CountLabelled(tile.labels);
  sums->loss += total[kLogSum] - exp.scale() * total[kLabelLogit] + rest * slope;
  sums->slope += slope + rest * total[kVariance];
  sums->curvature += total[kVariance] + rest * total[kSkew];
  sums->skew += total[kSkew];
}

// Mean logits of a group of vectors.
HWY_INLINE void StoreMeanLogits(const float* logits, int64_t num_classes, float* out) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VF sum[kGroupVectors];
  for (int k = 0; k < kGroupVectors; ++k) sum[k] = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c, logits += kTileVoxels) {
    for (int k = 0; k < kGroupVectors; ++k)
      sum[k] = hn::Add(sum[k], hn::Load(d, logits + k * lanes));
  }
  const VF share = hn::Set(d, 1.0f / static_cast<float>(num_classes));
  for (int k = 0; k < kGroupVectors; ++k) hn::Store(hn::Mul(sum[k], share), d, out + k * lanes);
}

void MarginKernel(const Tile& tile, LabelMargins* margins) {
  const int64_t group = kGroupVectors * static_cast<int64_t>(hn::Lanes(DF()));
  enum { kMeanLogit, kOwnLogit, kRows };
  alignas(64) float rows[kRows][kTileVoxels];
  for (int64_t v = 0; v < kTileVoxels; v += group) {
    StoreMeanLogits(tile.logits + v, tile.num_classes, rows[kMeanLogit] + v);
  }
  GatherLabelRow(tile.logits, tile.labels, rows[kOwnLogit]);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    margins->below_max += tile.labels[v] != kNoLabel && rows[kOwnLogit][v] < 0.0f ? 1 : 0;
  }
  double total[kRows];
  SumLabelled<kRows>(rows[0], tile.labels, total);
  margins->count += CountLabelled(tile.labels);
  margins->slope_at_zero += total[kMeanLogit] - total[kOwnLogit];
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(TemperatureKernel);
HWY_EXPORT(MarginKernel);

void AddTemperatureSums(const Tile& tile, double beta, TemperatureSums* sums) noexcept {
  SEGCAL_DISPATCH(TemperatureKernel)(tile, beta, sums);
}

void AddLabelMargins(const Tile& tile, LabelMargins* margins) noexcept {
  SEGCAL_DISPATCH(MarginKernel)(tile, margins);
}

}  // namespace segcal
#endif
