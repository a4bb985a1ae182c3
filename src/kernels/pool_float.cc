// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "core/half.h"
#include "kernels/dispatch.h"
#include "kernels/pool_paths.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool_float.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VU = hn::Vec<DU>;

HWY_INLINE VF LoadRow(const float* row) { return hn::LoadU(DF(), row); }
HWY_INLINE VF LoadRow(const uint16_t* row) { return LoadHalves(DF(), row); }
HWY_INLINE VF LoadRow(const BFloat16* row) { return LoadBFloats(DF(), &row->bits); }

// Vectors of voxels handled together.
constexpr int kGroup = 4;

// Rows fetched ahead of the one that is read, those of the next tile behind those of this one. More
// would evict each other: lines of planes that are a power of two apart share one cache set.
constexpr int64_t kRowsAhead = 4;

// Copies row by row: whole rows are read at the speed of the memory, a line of each in turn is not.
template <typename T>
HWY_INLINE void CopyRows(const T* rows, int64_t class_stride, int64_t num_classes, float* out) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < num_classes; ++c) {
    const T* row = rows + c * class_stride;
    const int64_t next = c + kRowsAhead;
    const T* ahead = rows + next % num_classes * class_stride + next / num_classes * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; v += kLine) {
      __builtin_prefetch(ahead + v);
      for (int64_t i = v; i < v + kLine; i += lanes) {
        hn::Store(LoadRow(row + i), d, out + c * kTileVoxels + i);
      }
    }
  }
}

// What a scan over the classes knows of one vector of voxels.
struct Scan {
  VF largest;
  VF sum;  // NaN if a value is
};

HWY_INLINE void ScanRows(const float* rows, int64_t num_classes, Scan* scan) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int k = 0; k < kGroup; ++k) scan[k] = {hn::Set(d, -HUGE_VALF), hn::Zero(d)};
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int k = 0; k < kGroup; ++k) {
      const VF value = hn::Load(d, rows + c * kTileVoxels + k * lanes);
      scan[k].largest = hn::Max(value, scan[k].largest);
      scan[k].sum = hn::Add(scan[k].sum, value);
    }
  }
}

// False where no class is possible, some value is NaN or +inf, or the largest exceeds `limit`; also
// where finite values overflow to infinities that cancel, which the search for the fault then finds
// to be none.
HWY_INLINE bool IsClean(const Scan& scan, VF limit) {
  const DF d;
  const auto possible = hn::Gt(scan.largest, hn::Set(d, -HUGE_VALF));
  const auto good = hn::And(possible, hn::Le(scan.largest, limit));
  return hn::AllTrue(d, hn::AndNot(hn::IsNaN(scan.sum), good));
}

// z - max z with the floor, and the first class where it is zero. The negated maximum of two zeros
// is +0, so the sum is +0 for either of them and negative below: the sign bit tells.
HWY_INLINE void SubtractLargest(
    const Scan* scan, VF floor, int64_t num_classes, float* out, uint16_t* decision) {
  const DF d;
  const DU du;
  const hn::Rebind<uint16_t, DF> du16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  VF minus_largest[kGroup];
  VU winner[kGroup];
  for (int k = 0; k < kGroup; ++k) minus_largest[k] = hn::Sub(hn::Zero(d), scan[k].largest);
  for (int k = 0; k < kGroup; ++k) winner[k] = hn::Set(du, 0xFFFFu);
  VU index = hn::Zero(du);
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int k = 0; k < kGroup; ++k) {
      float* at = out + c * kTileVoxels + k * lanes;
      const VF u = hn::Add(hn::Load(d, at), minus_largest[k]);
      hn::Store(hn::Max(u, floor), d, at);
      const VU below = hn::BitCast(du, hn::BroadcastSignBit(hn::BitCast(DI(), u)));
      winner[k] = hn::Min(winner[k], hn::Or(index, below));
    }
    index = hn::Add(index, hn::Set(du, 1));
  }
  for (int k = 0; k < kGroup; ++k) {
    hn::Store(hn::DemoteTo(du16, hn::BitCast(DI(), winner[k])), du16, decision + k * lanes);
  }
}

HWY_INLINE void StoreOffset(VF largest, double* offset) {
  alignas(64) float values[hn::MaxLanes(DF())];
  hn::Store(largest, DF(), values);
  // Adding zero makes -0 plain 0, whichever of two equal zeros came first.
  for (size_t i = 0; i < hn::Lanes(DF()); ++i) offset[i] = static_cast<double>(values[i]) + 0.0;
}

template <typename T>
bool PoolRows(const T* rows,
              int64_t class_stride,
              int64_t num_classes,
              const PoolOptions& options,
              const PoolOutput& out) {
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF floor = hn::Set(d, static_cast<float>(options.floor));
  const bool log_probs = options.input == InputKind::kLogProbs;
  const VF limit = hn::Set(d, log_probs ? kMaxLogProb : std::numeric_limits<float>::max());
  CopyRows(rows, class_stride, num_classes, out.logits);
  bool clean = true;
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    Scan scan[kGroup];
    ScanRows(out.logits + v, num_classes, scan);
    SubtractLargest(scan, floor, num_classes, out.logits + v, out.decision + v);
    for (int k = 0; k < kGroup; ++k) {
      clean = clean && IsClean(scan[k], limit);
      StoreOffset(scan[k].largest, out.offset + v + k * lanes);
    }
  }
  return clean;
}

bool PoolFloats(const MemberRows& rows,
                int64_t num_classes,
                const PoolOptions& options,
                const PoolOutput& out) {
  if (rows.dtype == DType::kF32) {
    const auto* data = static_cast<const float*>(rows.data);
    return PoolRows(data, rows.class_stride, num_classes, options, out);
  }
  if (rows.dtype == DType::kBF16) {
    const auto* data = static_cast<const BFloat16*>(rows.data);
    return PoolRows(data, rows.class_stride, num_classes, options, out);
  }
  const auto* data = static_cast<const uint16_t*>(rows.data);
  return PoolRows(data, rows.class_stride, num_classes, options, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(PoolFloats);

bool PoolFloatRows(const MemberRows& rows,
                   int64_t num_classes,
                   const PoolOptions& options,
                   const PoolOutput& out) noexcept {
  return SEGCAL_DISPATCH(PoolFloats)(rows, num_classes, options, out);
}

}  // namespace segcal
#endif
