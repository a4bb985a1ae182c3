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

// exp(beta u) with the same beta at every voxel.
class CommonExp {
 public:
  HWY_INLINE explicit CommonExp(double beta) : exp_(beta), beta_(static_cast<float>(beta)) {}
  HWY_INLINE void Apply(int64_t, VF* u) const { exp_.Apply<kGroup, true>(DF(), u); }
  HWY_INLINE VF BetaAt(int64_t) const { return hn::Set(DF(), beta_); }

 private:
  ScaledExp exp_;
  float beta_;
};

// exp(u / T) with a temperature per voxel. The product rounds monotonely, and so does its exp.
class VoxelExp {
 public:
  HWY_INLINE explicit VoxelExp(const float* temperature) {
    const DF d;
    for (int64_t v = 0; v < kTileVoxels; v += FloatLanes())
      hn::Store(hn::Div(hn::Set(d, 1.0f), hn::Load(d, temperature + v)), d, beta_ + v);
  }
  HWY_INLINE void Apply(int64_t v, VF* u) const {
    for (int k = 0; k < kGroup; ++k) u[k] = hn::Mul(u[k], BetaAt(v + k * FloatLanes()));
    ExpNonPositive<kGroup>(DF(), u);
  }
  HWY_INLINE VF BetaAt(int64_t v) const { return hn::Load(DF(), beta_ + v); }

 private:
  alignas(64) float beta_[kTileVoxels];
};

// sum[k] = sum_c exp(beta u_c) for a group of vectors from voxel v on; the terms go to `exps` where
// it is not null.
template <class Exp>
HWY_INLINE void SumExps(const Exp& exp, const Tile& tile, int64_t v, float* exps, VF* sum) {
  const DF d;
  const int64_t lanes = FloatLanes();
  const float* logits = tile.logits + v;
  const int64_t num_classes = tile.num_classes;
  FetchAhead<kGroup> ahead(tile, 0, v);
  for (int k = 0; k < kGroup; ++k) sum[k] = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    ahead.NextClass();
    VF e[kGroup];
    for (int k = 0; k < kGroup; ++k) e[k] = hn::Load(d, logits + c * kTileVoxels + k * lanes);
    exp.Apply(v, e);
    for (int k = 0; k < kGroup; ++k) sum[k] = hn::Add(sum[k], e[k]);
    if (exps == nullptr) continue;
    for (int k = 0; k < kGroup; ++k) hn::Store(e[k], d, exps + c * kTileVoxels + k * lanes);
  }
}

HWY_INLINE void ScaleRows(const VF* factor, int64_t num_classes, float* rows) {
  const DF d;
  const int64_t lanes = FloatLanes();
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int k = 0; k < kGroup; ++k) {
      float* row = rows + c * kTileVoxels + k * lanes;
      hn::Store(hn::Mul(hn::Load(d, row), factor[k]), d, row);
    }
  }
}

// log_label = beta u_y - log sum, 0 where there is no label; log_label holds log sum before.
template <class Exp>
HWY_INLINE void FinishLogLabel(const Tile& tile, const Exp& exp, float* log_label) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  alignas(64) float label_logit[kTileVoxels];
  GatherLabelRow(tile.logits, tile.labels, label_logit);
  for (int64_t v = 0; v < kTileVoxels; v += FloatLanes()) {
    const auto labelled = hn::Gt(hn::Load(di, tile.labels + v), hn::Set(di, kNoLabel));
    const VF log_sum = hn::Load(d, log_label + v);
    const VF value = hn::MulSub(hn::Load(d, label_logit + v), exp.BetaAt(v), log_sum);
    hn::Store(hn::IfThenElseZero(hn::RebindMask(d, labelled), value), d, log_label + v);
  }
}

template <class Exp>
HWY_INLINE void Softmax(const Tile& tile, const Exp& exp, const TileProbs& out) {
  const DF d;
  const int64_t lanes = FloatLanes();
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VF sum[kGroup];
    SumExps(exp, tile, v, out.probs + v, sum);
    VF inverse[kGroup];
    for (int k = 0; k < kGroup; ++k) {
      inverse[k] = hn::Div(hn::Set(d, 1.0f), sum[k]);
      hn::Store(LogPositive(d, sum[k]), d, out.log_label + v + k * lanes);
    }
    ScaleRows(inverse, tile.num_classes, out.probs + v);
  }
  FinishLogLabel(tile, exp, out.log_label);
}

void SoftmaxKernel(const Tile& tile, double beta, const TileProbs& out) {
  Softmax(tile, CommonExp(beta), out);
}

void LocalSoftmaxKernel(const Tile& tile, const float* temperature, const TileProbs& out) {
  Softmax(tile, VoxelExp(temperature), out);
}

HWY_INLINE void LogRows(const float* logits, int64_t num_classes, VF beta, VF log_sum, float* out) {
  const DF d;
  for (int64_t c = 0; c < num_classes; ++c) {
    const VF u = hn::Load(d, logits + c * kTileVoxels);
    hn::Store(hn::MulSub(u, beta, log_sum), d, out + c * kTileVoxels);
  }
}

void LogSoftmaxKernel(const Tile& tile, double beta, float* log_probs) {
  const DF d;
  const int64_t lanes = FloatLanes();
  const CommonExp exp(beta);
  const VF factor = exp.BetaAt(0);
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VF sum[kGroup];
    SumExps(exp, tile, v, nullptr, sum);
    for (int k = 0; k < kGroup; ++k) {
      const int64_t first = v + k * lanes;
      const VF log_sum = LogPositive(d, sum[k]);
      LogRows(tile.logits + first, tile.num_classes, factor, log_sum, log_probs + first);
    }
  }
}

void ExpKernel(const float* x, int64_t n, float* y) {
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

HWY_EXPORT(SoftmaxKernel);
HWY_EXPORT(LocalSoftmaxKernel);
HWY_EXPORT(LogSoftmaxKernel);
HWY_EXPORT(ExpKernel);

void SoftmaxTile(const Tile& tile, double beta, const TileProbs& out) noexcept {
  SEGCAL_DISPATCH(SoftmaxKernel)(tile, beta, out);
}

void LocalSoftmaxTile(const Tile& tile, const float* temperature, const TileProbs& out) noexcept {
  SEGCAL_DISPATCH(LocalSoftmaxKernel)(tile, temperature, out);
}

void LogSoftmaxTile(const Tile& tile, double beta, float* log_probs) noexcept {
  SEGCAL_DISPATCH(LogSoftmaxKernel)(tile, beta, log_probs);
}

void ExpArray(const float* x, int64_t n, float* y) noexcept { SEGCAL_DISPATCH(ExpKernel)(x, n, y); }

}  // namespace segcal
#endif
