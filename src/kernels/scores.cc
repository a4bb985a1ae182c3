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

void TopLabelPass(const float* probs, int64_t num_classes, float* confidence, uint16_t* predicted) {
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

// Sums over the classes, per voxel, in double: q^2 is exact there.
struct VoxelScores {
  alignas(64) double square[kTileVoxels];
  alignas(64) double entropy[kTileVoxels];
};

// One class along the voxels, so that the sums of neighbouring vectors do not wait for each other.
HWY_INLINE void AddClass(const float* row, VoxelScores* scores) {
  constexpr int kGroup = 4;
  const DD d;
  const DFofD df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    hn::Vec<DFofD> q[kGroup];
    VD log_q[kGroup];
    // Below the smallest normal float32, q log q is 0 for our purposes.
    for (int k = 0; k < kGroup; ++k) {
      q[k] = hn::Max(hn::Load(df, row + v + k * lanes), hn::Set(df, 0x1p-126f));
    }
    LogToDouble<kGroup>(d, q, log_q);
    for (int k = 0; k < kGroup; ++k) {
      double* square = scores->square + v + k * lanes;
      double* entropy = scores->entropy + v + k * lanes;
      const VD value = hn::PromoteTo(d, q[k]);
      hn::Store(hn::MulAdd(value, value, hn::Load(d, square)), d, square);
      hn::Store(hn::NegMulAdd(value, log_q[k], hn::Load(d, entropy)), d, entropy);
    }
  }
}

// sum_c (q_c - [y = c])^2 = sum_c q_c^2 - 2 q_y + 1, not below 0 by rounding.
HWY_INLINE VD Brier(VD square, VD label_prob) {
  const DD d;
  const VD brier = hn::Add(hn::NegMulAdd(hn::Set(d, 2.0), label_prob, square), hn::Set(d, 1.0));
  return hn::Max(brier, hn::Zero(d));
}

void ScorePass(const float* probs,
               const float* log_label,
               const int32_t* labels,
               int64_t num_classes,
               ScoreSums* sums) {
  const DD d;
  const DFofD df;
  const DIofD di;
  VoxelScores scores = {};
  for (int64_t c = 0; c < num_classes; ++c) AddClass(probs + c * kTileVoxels, &scores);
  alignas(64) float label_prob[kTileVoxels];
  GatherLabelRow(probs, labels, label_prob);
  VD log_loss = hn::Zero(d);
  VD brier = hn::Zero(d);
  VD entropy = hn::Zero(d);
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto own = hn::PromoteTo(d, hn::Load(df, label_prob + v));
    const auto label =
        hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<DD>(), hn::Load(di, labels + v)));
    const auto labelled = hn::Ge(label, hn::Zero(d));
    const VD loss = hn::PromoteTo(d, hn::Load(df, log_label + v));
    log_loss = hn::Sub(log_loss, hn::IfThenElseZero(labelled, loss));
    brier =
        hn::Add(brier, hn::IfThenElseZero(labelled, Brier(hn::Load(d, scores.square + v), own)));
    entropy = hn::Add(entropy, hn::IfThenElseZero(labelled, hn::Load(d, scores.entropy + v)));
  }
  sums->count += CountLabelled(labels);
  sums->log_loss += hn::GetLane(hn::SumOfLanes(d, log_loss));
  sums->brier += hn::GetLane(hn::SumOfLanes(d, brier));
  sums->entropy += hn::GetLane(hn::SumOfLanes(d, entropy));
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(TopLabelPass);
HWY_EXPORT(ScorePass);

void TopLabelTile(const float* probs,
                  int64_t num_classes,
                  float* confidence,
                  uint16_t* predicted) noexcept {
  SEGCAL_DISPATCH(TopLabelPass)(probs, num_classes, confidence, predicted);
}

void AddScoreSums(const float* probs,
                  const float* log_label,
                  const int32_t* labels,
                  int64_t num_classes,
                  ScoreSums* sums) noexcept {
  SEGCAL_DISPATCH(ScorePass)(probs, log_label, labels, num_classes, sums);
}

}  // namespace segcal
#endif
