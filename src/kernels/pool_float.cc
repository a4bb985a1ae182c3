// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/dispatch.h"
#include "kernels/pool_paths.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool_float.cc"
#include <hwy/cache_control.h>
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
using VI = hn::Vec<DI>;

HWY_INLINE VF LoadRow(const float* row) { return hn::LoadU(DF(), row); }
HWY_INLINE VF LoadRow(const uint16_t* row) { return LoadHalves(DF(), row); }

// What a scan over the classes knows of one vector of voxels.
struct Scan {
  VF largest;
  VI winner;
  hn::Mask<DF> nan;
};

HWY_INLINE void Step(VF value, VI c, Scan* scan) {
  const auto larger = hn::Gt(value, scan->largest);
  scan->largest = hn::IfThenElse(larger, value, scan->largest);
  scan->winner = hn::IfThenElse(hn::RebindMask(DI(), larger), c, scan->winner);
  scan->nan = hn::Or(scan->nan, hn::IsNaN(value));
}

// Copies the rows of two vectors of voxels to `out` and scans them. Two, so that a vector of eight
// floats reads whole cache lines: rows of planes a power of two apart share one cache set.
template <typename T>
HWY_INLINE void CopyAndScan(
    const T* rows, int64_t class_stride, int64_t num_classes, float* out, Scan* a, Scan* b) {
  const DF d;
  const DI di;
  const size_t lanes = hn::Lanes(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    const T* row = rows + c * class_stride;
    // The next tile lies behind this one; past the end of the array a prefetch does nothing.
    hwy::Prefetch(row + kTileVoxels);
    const VI index = hn::Set(di, static_cast<int32_t>(c));
    const VF va = LoadRow(row);
    const VF vb = LoadRow(row + lanes);
    hn::Store(va, d, out + c * kTileVoxels);
    hn::Store(vb, d, out + c * kTileVoxels + lanes);
    Step(va, index, a);
    Step(vb, index, b);
  }
}

// False where no class is possible, some value is NaN or +inf, or the largest exceeds `limit`.
HWY_INLINE bool IsClean(const Scan& scan, VF limit) {
  const DF d;
  const auto possible = hn::Gt(scan.largest, hn::Set(d, -HUGE_VALF));
  const auto good = hn::And(possible, hn::Le(scan.largest, limit));
  return hn::AllTrue(d, hn::AndNot(scan.nan, good));
}

HWY_INLINE void SubtractLargest(const Scan& scan, VF floor, int64_t num_classes, float* out) {
  const DF d;
  for (int64_t c = 0; c < num_classes; ++c) {
    const VF z = hn::Load(d, out + c * kTileVoxels);
    hn::Store(hn::Max(hn::Sub(z, scan.largest), floor), d, out + c * kTileVoxels);
  }
}

HWY_INLINE void StoreDecision(const Scan& scan, double* offset, uint16_t* decision) {
  const hn::Rebind<uint16_t, DF> du16;
  hn::Store(hn::DemoteTo(du16, scan.winner), du16, decision);
  alignas(64) float largest[hn::MaxLanes(DF())];
  hn::Store(scan.largest, DF(), largest);
  // Adding zero makes -0 plain 0, whichever of two equal zeros came first.
  for (size_t i = 0; i < hn::Lanes(DF()); ++i) offset[i] = static_cast<double>(largest[i]) + 0.0;
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
  const VF lowest = hn::Set(d, -HUGE_VALF);
  const Scan start{lowest, hn::Zero(DI()), hn::IsNaN(lowest)};
  bool clean = true;
  for (int64_t v = 0; v < kTileVoxels; v += 2 * lanes) {
    Scan a = start;
    Scan b = start;
    CopyAndScan(rows + v, class_stride, num_classes, out.logits + v, &a, &b);
    clean = clean && IsClean(a, limit) && IsClean(b, limit);
    SubtractLargest(a, floor, num_classes, out.logits + v);
    SubtractLargest(b, floor, num_classes, out.logits + v + lanes);
    StoreDecision(a, out.offset + v, out.decision + v);
    StoreDecision(b, out.offset + v + lanes, out.decision + v + lanes);
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
