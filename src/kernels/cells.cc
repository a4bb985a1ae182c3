// SPDX-License-Identifier: Apache-2.0
#include "kernels/cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cells.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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

HWY_EXPORT(SplitRowKernel);

std::vector<CellStep> MakeCellSteps(std::span<const float> lower) {
  const auto cell_of = [&](float x) {
    const auto above = std::upper_bound(lower.begin(), lower.end(), x);
    return static_cast<int32_t>(above - lower.begin() - 1);
  };
  std::vector<CellStep> steps;
  for (int64_t i = 0; i <= kCellGuesses; ++i) {
    const float begin = static_cast<float>(i) / static_cast<float>(kCellGuesses);
    const float end = static_cast<float>(i + 1) / static_cast<float>(kCellGuesses);
    const float last =
        i < kCellGuesses ? std::nextafter(end, 0.0f) : std::numeric_limits<float>::max();
    steps.push_back({.first = cell_of(begin), .last = cell_of(last)});
  }
  return steps;
}

// Plain loads: gathers of vectors took twice as long.
void FindCells(const float* x, int64_t count, const CellEdges& edges, int32_t* cells) noexcept {
  for (int64_t v = 0; v < count; ++v) cells[v] = FindCell(std::fabs(x[v]), edges);
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
