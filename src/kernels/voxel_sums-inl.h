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

// Fetches kVectors vectors of floats, class by class, of the tile that comes next: into the
// second-level cache, because in the first, planes a power of two apart would evict the tile that
// is worked on. Without a next tile it fetches what is there already: no branch in the loop.
template <int kVectors>
class FetchAhead {
 public:
  HWY_INLINE FetchAhead(const Tile& tile, int64_t c, int64_t v)
      : next_(reinterpret_cast<const std::byte*>(tile.logits)) {
    if (tile.ahead.data == nullptr) return;
    next_ = tile.ahead.At(c, v);
    step_ = tile.ahead.class_bytes;
  }

  HWY_INLINE void NextClass() {
    constexpr int64_t kBytes = kVectors * sizeof(float) * hn::MaxLanes(hn::ScalableTag<float>());
    for (int64_t i = 0; i < kBytes; i += 64)
      __builtin_prefetch(next_ + i, /*write=*/0, /*level=*/2);
    next_ += step_;
  }

 private:
  const std::byte* next_;
  int64_t step_ = 0;
};

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
