// SPDX-License-Identifier: Apache-2.0
#include "kernels/scores.h"

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scores.cc"
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

void TopLabelKernel(const float* probs,
                    int64_t num_classes,
                    float* confidence,
                    uint16_t* predicted) {
  constexpr int kGroup = 4;
  const DF d;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<uint16_t, DF> du16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VF largest[kGroup];
    hn::Vec<hn::RebindToSigned<DF>> winner[kGroup];
    for (int k = 0; k < kGroup; ++k) largest[k] = hn::Load(d, probs + v + k * lanes);
    for (int k = 0; k < kGroup; ++k) winner[k] = hn::Zero(di);
    auto index = hn::Set(di, 1);
    for (int64_t c = 1; c < num_classes; ++c) {
      for (int k = 0; k < kGroup; ++k) {
        const VF q = hn::Load(d, probs + c * kTileVoxels + v + k * lanes);
        const auto larger = hn::Gt(q, largest[k]);
        largest[k] = hn::IfThenElse(larger, q, largest[k]);
        winner[k] = hn::IfThenElse(hn::RebindMask(di, larger), index, winner[k]);
      }
      index = hn::Add(index, hn::Set(di, 1));
    }
    for (int k = 0; k < kGroup; ++k) {
      hn::Store(largest[k], d, confidence + v + k * lanes);
      hn::Store(hn::DemoteTo(du16, winner[k]), du16, predicted + v + k * lanes);
    }
  }
}

// Whether the voxels from v on have a label, per lane of a double vector.
HWY_INLINE hn::Mask<DD> Labelled(const int32_t* labels, int64_t v) {
  const hn::RebindToSigned<DD> di;
  const auto label = hn::PromoteTo(di, hn::Load(DIofD(), labels + v));
  return hn::RebindMask(DD(), hn::Gt(label, hn::Set(di, kNoLabel)));
}

void TopLabelSumsKernel(const float* confidence,
                        const uint16_t* predicted,
                        const int32_t* labels,
                        ScoreSums* sums) {
  const hn::ScalableTag<int32_t> di;
  const hn::Rebind<uint16_t, decltype(di)> du16;
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(di))) {
    const auto top = hn::PromoteTo(di, hn::Load(du16, predicted + v));
    sums->correct += static_cast<int64_t>(hn::CountTrue(di, hn::Eq(top, hn::Load(di, labels + v))));
  }
  double total = 0.0;
  SumLabelled<1>(confidence, labels, &total);
  sums->confidence += total;
  sums->count += CountLabelled(labels);
}

// sum_c q_c^2 of a group of vectors, in double, where squares are exact.
template <int kN>
HWY_INLINE void SumSquares(const float* probs, int64_t num_classes, VD* sum) {
  const DD d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int k = 0; k < kN; ++k) sum[k] = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int k = 0; k < kN; ++k) {
      const VD q = hn::PromoteTo(d, hn::Load(DFofD(), probs + c * kTileVoxels + k * lanes));
      sum[k] = hn::MulAdd(q, q, sum[k]);
    }
  }
}

// sum_c (q_c - [y = c])^2 = sum_c q_c^2 - 2 q_y + 1, not below 0 by rounding.
HWY_INLINE VD Brier(VD square, VD label_prob) {
  const DD d;
  const VD brier = hn::Add(hn::NegMulAdd(hn::Set(d, 2.0), label_prob, square), hn::Set(d, 1.0));
  return hn::Max(brier, hn::Zero(d));
}

void LossKernel(const float* probs,
                const float* log_label,
                const int32_t* labels,
                int64_t num_classes,
                ScoreSums* sums) {
  constexpr int kGroup = 8;
  const DD d;
  const DFofD df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(64) float label_prob[kTileVoxels];
  GatherLabelRow(probs, labels, label_prob);
  VD brier = hn::Zero(d);
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VD square[kGroup];
    SumSquares<kGroup>(probs + v, num_classes, square);
    for (int k = 0; k < kGroup; ++k) {
      const int64_t at = v + k * lanes;
      const VD own = hn::PromoteTo(d, hn::Load(df, label_prob + at));
      brier = hn::Add(brier, hn::IfThenElseZero(Labelled(labels, at), Brier(square[k], own)));
    }
  }
  double log_probs = 0.0;
  SumLabelled<1>(log_label, labels, &log_probs);
  sums->log_loss -= log_probs;
  sums->brier += hn::GetLane(hn::SumOfLanes(d, brier));
}

// -sum_c q_c log q_c of a group of vectors: the sums stay in registers.
template <int kN>
HWY_INLINE void SumEntropy(const float* probs, int64_t num_classes, VD* entropy) {
  const DD d;
  const DFofD df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int k = 0; k < kN; ++k) entropy[k] = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    hn::Vec<DFofD> q[kN];
    VD log_q[kN];
    // Below the smallest normal float32, q log q is 0 for our purposes.
    for (int k = 0; k < kN; ++k) {
      q[k] = hn::Max(hn::Load(df, probs + c * kTileVoxels + k * lanes), hn::Set(df, 0x1p-126f));
    }
    LogAsDouble<kN>(d, q, log_q);
    for (int k = 0; k < kN; ++k)
      entropy[k] = hn::NegMulAdd(hn::PromoteTo(d, q[k]), log_q[k], entropy[k]);
  }
}

void EntropyKernel(const float* probs,
                   const int32_t* labels,
                   int64_t num_classes,
                   ScoreSums* sums) {
  constexpr int kGroup = 4;
  const DD d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VD total = hn::Zero(d);
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VD entropy[kGroup];
    SumEntropy<kGroup>(probs + v, num_classes, entropy);
    for (int k = 0; k < kGroup; ++k)
      total = hn::Add(total, hn::IfThenElseZero(Labelled(labels, v + k * lanes), entropy[k]));
  }
  sums->entropy += hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(TopLabelKernel);
HWY_EXPORT(TopLabelSumsKernel);
HWY_EXPORT(LossKernel);
HWY_EXPORT(EntropyKernel);

void TopLabelTile(const float* probs,
                  int64_t num_classes,
                  float* confidence,
                  uint16_t* predicted) noexcept {
  SEGCAL_DISPATCH(TopLabelKernel)(probs, num_classes, confidence, predicted);
}

void AddTopLabelSums(const float* confidence,
                     const uint16_t* predicted,
                     const int32_t* labels,
                     ScoreSums* sums) noexcept {
  SEGCAL_DISPATCH(TopLabelSumsKernel)(confidence, predicted, labels, sums);
}

void AddLossSums(const float* probs,
                 const float* log_label,
                 const int32_t* labels,
                 int64_t num_classes,
                 ScoreSums* sums) noexcept {
  SEGCAL_DISPATCH(LossKernel)(probs, log_label, labels, num_classes, sums);
}

void AddEntropySum(const float* probs,
                   const int32_t* labels,
                   int64_t num_classes,
                   ScoreSums* sums) noexcept {
  SEGCAL_DISPATCH(EntropyKernel)(probs, labels, num_classes, sums);
}

}  // namespace segcal
#endif
