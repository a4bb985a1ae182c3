// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.h"

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"
#include "kernels/voxel_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Vectors of voxels handled together.
constexpr int kGroup = 4;

HWY_INLINE int64_t FloatLanes() { return static_cast<int64_t>(hn::Lanes(DF())); }

// beta as two floats, hi <= beta and lo >= 0: beta u = u hi + u lo is then weakly monotone in u,
// with fused multiply-add and without.
struct SplitBeta {
  float hi;
  float lo;
};
HWY_INLINE SplitBeta Split(double beta) {
  const float hi = RoundDown(beta);
  return {hi, static_cast<float>(beta - static_cast<double>(hi))};
}
HWY_INLINE VF Times(SplitBeta beta, VF u) {
  const DF d;
  return hn::MulAdd(u, hn::Set(d, beta.hi), hn::Mul(u, hn::Set(d, beta.lo)));
}

// sum[k] = sum_c exp(beta u_c) for a group of vectors; the terms go to `exps` where it is not null.
HWY_INLINE void SumExps(const float* logits, int64_t num_classes, SplitBeta beta, float* exps, VF* sum) {
  const DF d;
  const int64_t lanes = FloatLanes();
  for (int k = 0; k < kGroup; ++k) sum[k] = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    VF x[kGroup];
    for (int k = 0; k < kGroup; ++k) {
      x[k] = Times(beta, hn::Load(d, logits + c * kTileVoxels + k * lanes));
    }
    ExpNonPositive<kGroup>(d, x);
    for (int k = 0; k < kGroup; ++k) sum[k] = hn::Add(sum[k], x[k]);
    if (exps == nullptr) continue;
    for (int k = 0; k < kGroup; ++k) hn::Store(x[k], d, exps + c * kTileVoxels + k * lanes);
  }
}

HWY_INLINE void ScaleRows(VF factor, int64_t num_classes, float* rows) {
  const DF d;
  for (int64_t c = 0; c < num_classes; ++c) {
    float* row = rows + c * kTileVoxels;
    hn::Store(hn::Mul(hn::Load(d, row), factor), d, row);
  }
}

// log_label = beta u_y - log sum, 0 where there is no label; log_label holds log sum before.
HWY_INLINE void FinishLogLabel(const Tile& tile, SplitBeta beta, float* log_label) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  alignas(64) float label_logit[kTileVoxels];
  GatherLabelRow(tile.logits, tile.labels, label_logit);
  for (int64_t v = 0; v < kTileVoxels; v += FloatLanes()) {
    const VF x = Times(beta, hn::Load(d, label_logit + v));
    const auto labelled = hn::Gt(hn::Load(di, tile.labels + v), hn::Set(di, kNoLabel));
    const VF value = hn::Sub(x, hn::Load(d, log_label + v));
    hn::Store(hn::IfThenElseZero(hn::RebindMask(d, labelled), value), d, log_label + v);
  }
}

void SoftmaxPass(const Tile& tile, double beta, const TileProbs& out) {
  const DF d;
  const int64_t lanes = FloatLanes();
  const SplitBeta split = Split(beta);
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VF sum[kGroup];
    SumExps(tile.logits + v, tile.num_classes, split, out.probs + v, sum);
    for (int k = 0; k < kGroup; ++k) {
      const VF inverse = hn::Div(hn::Set(d, 1.0f), sum[k]);
      ScaleRows(inverse, tile.num_classes, out.probs + v + k * lanes);
      hn::Store(LogPositive(d, sum[k]), d, out.log_label + v + k * lanes);
    }
  }
  FinishLogLabel(tile, split, out.log_label);
}

HWY_INLINE void LogRows(const float* logits,
                        int64_t num_classes,
                        SplitBeta beta,
                        VF log_sum,
                        float* out) {
  const DF d;
  for (int64_t c = 0; c < num_classes; ++c) {
    const VF x = Times(beta, hn::Load(d, logits + c * kTileVoxels));
    hn::Store(hn::Sub(x, log_sum), d, out + c * kTileVoxels);
  }
}

void LogSoftmaxPass(const Tile& tile, double beta, float* log_probs) {
  const DF d;
  const int64_t lanes = FloatLanes();
  const SplitBeta split = Split(beta);
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VF sum[kGroup];
    SumExps(tile.logits + v, tile.num_classes, split, nullptr, sum);
    for (int k = 0; k < kGroup; ++k) {
      const int64_t first = v + k * lanes;
      LogRows(tile.logits + first, tile.num_classes, split, LogPositive(d, sum[k]), log_probs + first);
    }
  }
}

void ExpPass(const float* x, int64_t n, float* y) {
  const DF d;
  const int64_t lanes = FloatLanes();
  int64_t i = 0;
  for (; i + kGroup * lanes <= n; i += kGroup * lanes) {
    VF e[kGroup];
    for (int k = 0; k < kGroup; ++k) e[k] = hn::LoadU(d, x + i + k * lanes);
    ExpNonPositive<kGroup>(d, e);
    for (int k = 0; k < kGroup; ++k) hn::StoreU(e[k], d, y + i + k * lanes);
  }
  for (; i < n; ++i) {
    VF e = hn::Set(d, x[i]);
    ExpNonPositive<1>(d, &e);
    y[i] = hn::GetLane(e);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(SoftmaxPass);
HWY_EXPORT(LogSoftmaxPass);
HWY_EXPORT(ExpPass);

void SoftmaxTile(const Tile& tile, double beta, const TileProbs& out) noexcept {
  SEGCAL_DISPATCH(SoftmaxPass)(tile, beta, out);
}

void LogSoftmaxTile(const Tile& tile, double beta, float* log_probs) noexcept {
  SEGCAL_DISPATCH(LogSoftmaxPass)(tile, beta, log_probs);
}

void ExpArray(const float* x, int64_t n, float* y) noexcept { SEGCAL_DISPATCH(ExpPass)(x, n, y); }

}  // namespace segcal
#endif
