// SPDX-License-Identifier: Apache-2.0
#include "kernels/mixture.h"

#include <cmath>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mixture.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"
#include "kernels/voxel_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;
using VD = hn::Vec<DD>;

// Vectors of voxels handled together.
constexpr int kGroup = 2;

// Per voxel: sums of exp(beta u) and exp(u), moments of u under softmax(beta u), the label's u.
enum MixtureRow { kSumScaled, kSumPlain, kMean, kVariance, kLabelLogit, kNumRows };
struct VoxelRows {
  alignas(64) float rows[kNumRows][kTileVoxels];
};

HWY_INLINE int64_t FloatLanes() { return static_cast<int64_t>(hn::Lanes(DF())); }

struct RawSums {
  VF scaled[kGroup], first[kGroup], second[kGroup], plain[kGroup];
};

HWY_INLINE RawSums SumClasses(const ScaledExp& scaled, const float* logits, int64_t num_classes) {
  const DF d;
  const int64_t lanes = FloatLanes();
  const ScaledExp plain(1.0);
  RawSums sums;
  for (int k = 0; k < kGroup; ++k) {
    sums.scaled[k] = sums.first[k] = sums.second[k] = sums.plain[k] = hn::Zero(d);
  }
  for (int64_t c = 0; c < num_classes; ++c, logits += kTileVoxels) {
    VF u[kGroup], e[kGroup], p[kGroup];
    for (int k = 0; k < kGroup; ++k) u[k] = e[k] = p[k] = hn::Load(d, logits + k * lanes);
    // The monotone exp, so that sums have the bits of those that divide the emitted values.
    scaled.Apply<kGroup, true>(d, e);
    plain.Apply<kGroup, true>(d, p);
    for (int k = 0; k < kGroup; ++k) {
      const VF eu = hn::Mul(e[k], u[k]);
      sums.scaled[k] = hn::Add(sums.scaled[k], e[k]);
      sums.first[k] = hn::Add(sums.first[k], eu);
      sums.second[k] = hn::MulAdd(eu, u[k], sums.second[k]);
      sums.plain[k] = hn::Add(sums.plain[k], p[k]);
    }
  }
  return sums;
}

HWY_INLINE void FillRows(const Tile& tile, const ScaledExp& scaled, VoxelRows* out) {
  const DF d;
  const int64_t lanes = FloatLanes();
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    const RawSums sums = SumClasses(scaled, tile.logits + v, tile.num_classes);
    for (int k = 0; k < kGroup; ++k) {
      const int64_t at = v + k * lanes;
      const VF inverse = hn::Div(hn::Set(d, 1.0f), sums.scaled[k]);
      const VF mean = hn::Mul(sums.first[k], inverse);
      const VF second = hn::Mul(sums.second[k], inverse);
      hn::Store(sums.scaled[k], d, out->rows[kSumScaled] + at);
      hn::Store(sums.plain[k], d, out->rows[kSumPlain] + at);
      hn::Store(mean, d, out->rows[kMean] + at);
      hn::Store(
          hn::Max(hn::NegMulAdd(mean, mean, second), hn::Zero(d)), d, out->rows[kVariance] + at);
    }
  }
  GatherLabelRow(tile.logits, tile.labels, out->rows[kLabelLogit]);
}

HWY_INLINE VD LoadRow(const VoxelRows& rows, MixtureRow row, int64_t v) {
  return hn::PromoteTo(DD(), hn::Load(DFofD(), rows.rows[row] + v));
}

// log(x) of doubles that float32 holds to rounding: the logarithm of that float, then one step.
HWY_INLINE VD LogOfDouble(VD x) {
  const DD d;
  const auto near = hn::DemoteTo(DFofD(), x);
  VD log;
  LogAsDouble<1>(d, &near, &log);
  const VD value = hn::PromoteTo(d, near);
  return hn::Add(log, hn::Div(hn::Sub(x, value), value));
}

// The label's probability under the mixture, of one vector of voxels.
struct LabelMixture {
  VD log_q;
  VD ratio[3];  // f_k / q, at most kMixtureRatioCap
  VD d;         // u_y - E[u]
  VD variance;
};

class LabelTerms {
 public:
  HWY_INLINE LabelTerms(const Mixture& mixture, double scale, int64_t num_classes)
      : mixture_(mixture),
        scale_(scale),
        log_uniform_(-std::log(static_cast<double>(num_classes))) {
    for (int k = 0; k < 3; ++k) {
      log_weight_[k] = mixture.weights[k] > 0.0 ? std::log(mixture.weights[k]) : -1e30;
    }
  }

  // Logarithms first: at a label the network rules out, f_0 and f_1 are far below what a float32
  // or a double can hold. `rest` carries what float32 loses of beta, to first order.
  HWY_INLINE LabelMixture At(const VoxelRows& rows, int64_t v) const {
    const DD d;
    const hn::Vec<DFofD> sums[2] = {hn::Load(DFofD(), rows.rows[kSumScaled] + v),
                                    hn::Load(DFofD(), rows.rows[kSumPlain] + v)};
    VD log_sum[2];
    LogAsDouble<2>(d, sums, log_sum);
    const VD own = LoadRow(rows, kLabelLogit, v);
    const VD rest = hn::Set(d, mixture_.beta - scale_);
    LabelMixture out;
    out.variance = LoadRow(rows, kVariance, v);
    out.d = hn::Sub(own, LoadRow(rows, kMean, v));
    const VD at_scale = hn::MulSub(hn::Set(d, scale_), own, log_sum[0]);
    const VD log_f[3] = {
        hn::MulAdd(rest, out.d, at_scale), hn::Sub(own, log_sum[1]), hn::Set(d, log_uniform_)};
    out.d = hn::NegMulAdd(rest, out.variance, out.d);
    Mix(log_f, &out);
    return out;
  }

 private:
  HWY_INLINE void Mix(const VD* log_f, LabelMixture* out) const {
    const DD d;
    VD largest = hn::Add(log_f[0], hn::Set(d, log_weight_[0]));
    for (int k = 1; k < 3; ++k) {
      largest = hn::Max(largest, hn::Add(log_f[k], hn::Set(d, log_weight_[k])));
    }
    const VD log_cap = hn::Set(d, kLogCap);
    for (int k = 0; k < 3; ++k) {
      out->ratio[k] = hn::Sub(hn::Min(hn::Sub(log_f[k], largest), log_cap), log_cap);
    }
    ExpNonPositiveDouble<3>(d, out->ratio);
    VD q = hn::Zero(d);
    for (int k = 0; k < 3; ++k) {
      out->ratio[k] = hn::Mul(out->ratio[k], hn::Set(d, kMixtureRatioCap));
      q = hn::MulAdd(hn::Set(d, mixture_.weights[k]), out->ratio[k], q);
    }
    out->log_q = hn::Add(largest, LogOfDouble(q));
    for (int k = 0; k < 3; ++k) out->ratio[k] = hn::Div(out->ratio[k], q);
  }

  static constexpr double kLogCap = 40 * 0.6931471805599453;

  const Mixture& mixture_;
  double scale_;
  double log_uniform_;
  double log_weight_[3];
};

HWY_INLINE void AddTerms(const LabelMixture& at, hn::Mask<DD> labelled, VD* total) {
  const DD d;
  const VD cap = hn::Set(d, kMixtureSecondCap);
  VD r[3];
  for (int k = 0; k < 3; ++k) r[k] = hn::IfThenElseZero(labelled, at.ratio[k]);
  VD* t = total;
  t[kMixtureLoss] = hn::Sub(t[kMixtureLoss], hn::IfThenElseZero(labelled, at.log_q));
  for (int k = 0; k < 3; ++k) t[kMixtureR0 + k] = hn::Add(t[kMixtureR0 + k], r[k]);
  t[kMixtureD] = hn::MulAdd(r[0], at.d, t[kMixtureD]);
  for (int k = 0; k < 3; ++k) r[k] = hn::Min(r[k], cap);
  const VD pull = hn::Mul(r[0], at.d);
  for (int k = 0; k < 3; ++k) {
    t[kMixtureR00 + k] = hn::MulAdd(r[0], r[k], t[kMixtureR00 + k]);
    t[kMixtureD0 + k] = hn::MulAdd(r[k], pull, t[kMixtureD0 + k]);
  }
  t[kMixtureR11] = hn::MulAdd(r[1], r[1], t[kMixtureR11]);
  t[kMixtureR12] = hn::MulAdd(r[1], r[2], t[kMixtureR12]);
  t[kMixtureR22] = hn::MulAdd(r[2], r[2], t[kMixtureR22]);
  t[kMixtureDD] = hn::MulAdd(pull, pull, t[kMixtureDD]);
  t[kMixtureBend] = hn::MulAdd(r[0], hn::MulSub(at.d, at.d, at.variance), t[kMixtureBend]);
}

void MixtureKernel(const Tile& tile, const Mixture& mixture, MixtureSums* sums) {
  const DD d;
  const ScaledExp scaled(mixture.beta);
  VoxelRows rows;
  FillRows(tile, scaled, &rows);
  const LabelTerms terms(mixture, scaled.scale(), tile.num_classes);
  VD total[kMixtureTerms];
  for (VD& t : total) t = hn::Zero(d);
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto label = hn::PromoteTo(hn::RebindToSigned<DD>(), hn::Load(DIofD(), tile.labels + v));
    const auto labelled = hn::Ge(hn::ConvertTo(d, label), hn::Zero(d));
    AddTerms(terms.At(rows, v), labelled, total);
  }
  sums->count += CountLabelled(tile.labels);
  for (int k = 0; k < kMixtureTerms; ++k) {
    sums->terms[k] += hn::GetLane(hn::SumOfLanes(d, total[k]));
  }
}

// exp(u) is computed twice, which costs less than a second row of memory per class.
HWY_INLINE void EmitRows(const Tile& tile,
                         const ScaledExp& scaled,
                         const Mixture& mixture,
                         const VoxelRows& rows,
                         int64_t v,
                         float* probs) {
  const DF d;
  const ScaledExp plain(1.0);
  const VF factor = hn::Div(hn::Set(d, static_cast<float>(mixture.weights[0])),
                            hn::Load(d, rows.rows[kSumScaled] + v));
  const VF plain_factor = hn::Div(hn::Set(d, static_cast<float>(mixture.weights[1])),
                                  hn::Load(d, rows.rows[kSumPlain] + v));
  const VF uniform =
      hn::Set(d, static_cast<float>(mixture.weights[2] / static_cast<double>(tile.num_classes)));
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    VF e = hn::Load(d, tile.logits + c * kTileVoxels + v);
    VF p = e;
    scaled.Apply<1, true>(d, &e);
    plain.Apply<1, true>(d, &p);
    const VF q = hn::MulAdd(e, factor, hn::MulAdd(p, plain_factor, uniform));
    hn::Store(q, d, probs + c * kTileVoxels + v);
  }
}

void MixtureProbsKernel(const Tile& tile, const Mixture& mixture, const TileProbs& out) {
  const DD d;
  const DFofD df;
  const DIofD di;
  const ScaledExp scaled(mixture.beta);
  VoxelRows rows;
  FillRows(tile, scaled, &rows);
  for (int64_t v = 0; v < kTileVoxels; v += FloatLanes()) {
    EmitRows(tile, scaled, mixture, rows, v, out.probs);
  }
  const LabelTerms terms(mixture, scaled.scale(), tile.num_classes);
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto labelled = hn::Gt(hn::Load(di, tile.labels + v), hn::Set(di, kNoLabel));
    const auto log_q = hn::DemoteTo(df, hn::Min(terms.At(rows, v).log_q, hn::Zero(d)));
    hn::Store(hn::IfThenElseZero(hn::RebindMask(df, labelled), log_q), df, out.log_label + v);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(MixtureKernel);
HWY_EXPORT(MixtureProbsKernel);

void AddMixtureSums(const Tile& tile, const Mixture& mixture, MixtureSums* sums) noexcept {
  SEGCAL_DISPATCH(MixtureKernel)(tile, mixture, sums);
}

void MixtureTile(const Tile& tile, const Mixture& mixture, const TileProbs& out) noexcept {
  SEGCAL_DISPATCH(MixtureProbsKernel)(tile, mixture, out);
}

}  // namespace segcal
#endif
