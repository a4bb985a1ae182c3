// SPDX-License-Identifier: Apache-2.0
#include "kernels/cells.h"

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void FindCellsKernel(
    const float* x, int64_t count, const float* lower, const int32_t* guess, int32_t* cells) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto scale = hn::Set(d, static_cast<float>(kCellGuesses));
  for (int64_t v = 0; v < count; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto value = hn::Abs(hn::Load(d, x + v));
    const auto step = hn::ConvertTo(di, hn::Min(hn::Mul(value, scale), scale));
    auto cell = hn::GatherIndex(di, guess, step);
    for (;;) {
      const auto next = hn::GatherIndex(d, lower + 1, cell);
      const auto beyond = hn::Ge(value, next);
      if (hn::AllFalse(d, beyond)) break;
      cell = hn::Sub(cell, hn::VecFromMask(di, hn::RebindMask(di, beyond)));
    }
    hn::Store(cell, di, cells + v);
  }
}

int64_t SplitRowKernel(const float* row,
                       int32_t class_index,
                       const int32_t* labels,
                       float low,
                       LowSums* sums,
                       float* others) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(64) float low_values[hn::MaxLanes(d)];
  // Room for one vector past the end: compressed stores may write whole vectors.
  alignas(64) float kept[kTileVoxels + hn::MaxLanes(d)];
  // Two sums, so that one addition need not wait for the other.
  hn::Vec<decltype(dd)> confidence[2] = {hn::Zero(dd), hn::Zero(dd)};
  size_t count = 0;
  for (int64_t v = 0; v < kTileVoxels; v += lanes) {
    const auto x = hn::Load(d, row + v);
    const auto label = hn::Load(di, labels + v);
    const auto labelled = hn::RebindMask(d, hn::Gt(label, hn::Set(di, kNoLabel)));
    const auto hit = hn::RebindMask(d, hn::Eq(label, hn::Set(di, class_index)));
    const auto above = hn::And(labelled, hn::Ge(x, hn::Set(d, low)));
    const auto below = hn::AndNot(above, labelled);
    hn::Store(hn::IfThenElseZero(below, x), d, low_values);
    for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(dd)) {
      auto& sum = confidence[i / hn::Lanes(dd)];
      sum = hn::Add(sum, hn::PromoteTo(dd, hn::Load(half, low_values + i)));
    }
    sums->count += static_cast<int64_t>(hn::CountTrue(d, below));
    sums->correct += static_cast<int64_t>(hn::CountTrue(d, hn::And(below, hit)));
    const auto zero = hn::And(below, hn::Eq(x, hn::Zero(d)));
    if (!hn::AllFalse(d, zero)) {
      sums->zeros += static_cast<int64_t>(hn::CountTrue(d, zero));
      sums->zeros_correct += static_cast<int64_t>(hn::CountTrue(d, hn::And(zero, hit)));
    }
    if (hn::AllFalse(d, above)) continue;
    const auto signed_x = hn::Or(x, hn::IfThenElseZero(hit, hn::Set(d, -0.0f)));
    count += hn::CompressStore(signed_x, above, d, kept + count);
  }
  sums->confidence += hn::GetLane(hn::SumOfLanes(dd, hn::Add(confidence[0], confidence[1])));
  // What is past the end is zeros, for readers of whole vectors.
  for (size_t i = 0; i < kTileVoxels; ++i) others[i] = i < count ? kept[i] : 0.0f;
  return static_cast<int64_t>(count);
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(FindCellsKernel);
HWY_EXPORT(SplitRowKernel);

void FindCells(const float* x, int64_t count, const CellEdges& edges, int32_t* cells) noexcept {
  SEGCAL_DISPATCH(FindCellsKernel)(x, count, edges.lower.data(), edges.guess.data(), cells);
}

int64_t SplitRow(const float* row,
                 int32_t class_index,
                 const int32_t* labels,
                 float low,
                 LowSums* sums,
                 float* others) noexcept {
  return SEGCAL_DISPATCH(SplitRowKernel)(row, class_index, labels, low, sums, others);
}

}  // namespace segcal
#endif
