// SPDX-License-Identifier: Apache-2.0
// Values per voxel of a tile and their sums over its labelled voxels, per target.
#if defined(SEGCAL_KERNELS_VOXEL_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEGCAL_KERNELS_VOXEL_SUMS_INL_H_
#undef SEGCAL_KERNELS_VOXEL_SUMS_INL_H_
#else
#define SEGCAL_KERNELS_VOXEL_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Double vectors and the vectors of as many floats and labels.
using DD = hn::ScalableTag<double>;
using DFofD = hn::Rebind<float, DD>;
using DIofD = hn::Rebind<int32_t, DD>;

// out[v] = rows[label of v][v], rows[0][v] where there is no label. Scalar loads: the gather
// instruction of Zen 3 takes twice as long.
HWY_INLINE void GatherLabelRow(const float* rows, const int32_t* labels, float* out) {
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    out[v] = rows[std::max(labels[v], 0) * kTileVoxels + v];
  }
}

HWY_INLINE int64_t CountLabelled(const int32_t* labels) {
  const hn::ScalableTag<int32_t> d;
  int64_t count = 0;
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    count += static_cast<int64_t>(
        hn::CountTrue(d, hn::Gt(hn::Load(d, labels + v), hn::Set(d, kNoLabel))));
  }
  return count;
}

// Sums in double over the labelled voxels of kRows rows of kTileVoxels values.
template <int kRows>
HWY_INLINE void SumLabelled(const float* rows, const int32_t* labels, double* sums) {
  const DD d;
  const DFofD df;
  const DIofD di;
  hn::Vec<DD> total[kRows];
  for (auto& t : total) t = hn::Zero(d);
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto labelled =
        hn::RebindMask(df, hn::Gt(hn::Load(di, labels + v), hn::Set(di, kNoLabel)));
    for (int k = 0; k < kRows; ++k) {
      const auto value = hn::IfThenElseZero(labelled, hn::Load(df, rows + k * kTileVoxels + v));
      total[k] = hn::Add(total[k], hn::PromoteTo(d, value));
    }
  }
  for (int k = 0; k < kRows; ++k) sums[k] = hn::GetLane(hn::SumOfLanes(d, total[k]));
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#endif
