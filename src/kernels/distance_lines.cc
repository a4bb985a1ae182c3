// SPDX-License-Identifier: Apache-2.0
#include "kernels/distance_lines.h"

#include <algorithm>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/distance_lines.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DU = hn::ScalableTag<uint32_t>;
using VU = hn::Vec<DU>;

HWY_INLINE VU NextStep(VU steps) {
  return hn::Min(hn::Add(steps, hn::Set(DU(), 1)), hn::Set(DU(), kFarVoxels));
}

// Down a strip of columns, one per lane: how many steps ago a source was seen; then up.
HWY_INLINE void ScanStrip(const uint8_t* sources, int64_t height, int64_t stride, uint32_t* out) {
  const DU d;
  const hn::Rebind<uint8_t, DU> d8;
  VU steps = hn::Set(d, kFarVoxels);
  for (int64_t y = 0; y < height; ++y) {
    const VU source = hn::PromoteTo(d, hn::LoadU(d8, sources + y * stride));
    steps = hn::IfThenZeroElse(hn::Ne(source, hn::Zero(d)), NextStep(steps));
    hn::StoreU(steps, d, out + y * stride);
  }
  for (int64_t y = height - 1; y >= 0; --y) {
    steps = hn::Min(hn::LoadU(d, out + y * stride), NextStep(steps));
    hn::StoreU(hn::Mul(steps, steps), d, out + y * stride);
  }
}

// The same for a single column.
HWY_INLINE void ScanColumn(const uint8_t* sources, int64_t height, int64_t stride, uint32_t* out) {
  uint32_t steps = kFarVoxels;
  for (int64_t y = 0; y < height; ++y) {
    steps = sources[y * stride] != 0 ? 0 : std::min(steps + 1, kFarVoxels);
    out[y * stride] = steps;
  }
  for (int64_t y = height - 1; y >= 0; --y) {
    steps = std::min(out[y * stride], std::min(steps + 1, kFarVoxels));
    out[y * stride] = steps * steps;
  }
}

void ScanColumnsKernel(
    const uint8_t* sources, int64_t width, int64_t height, int64_t stride, uint32_t* squared) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(DU()));
  int64_t x = 0;
  for (; x + lanes <= width; x += lanes) ScanStrip(sources + x, height, stride, squared + x);
  for (; x < width; ++x) ScanColumn(sources + x, height, stride, squared + x);
}

HWY_INLINE hn::Mask<DU> IsWithin(VU x, VU limit) { return hn::Eq(hn::Min(x, limit), x); }

// Looks farther until nothing farther could be nearer.
bool NearestKernel(const uint32_t* squared, int64_t n, uint32_t* out) {
  constexpr int64_t kSteps = 4;  // between two looks at what there is
  const DU d;
  for (int64_t x = 0; x < n; x += static_cast<int64_t>(hn::Lanes(d))) {
    const uint32_t* at = squared + x;
    VU best = hn::LoadU(d, at);
    for (int64_t far = 1; far <= kRowReach; far += kSteps) {
      const auto reached = hn::Set(d, static_cast<uint32_t>(far * far));
      if (hn::AllTrue(d, IsWithin(best, reached))) break;
      for (int64_t k = far; k < far + kSteps; ++k) {
        const VU nearer = hn::Min(hn::LoadU(d, at - k), hn::LoadU(d, at + k));
        best = hn::Min(best, hn::Add(nearer, hn::Set(d, static_cast<uint32_t>(k * k))));
      }
    }
    const auto beyond = hn::Set(d, static_cast<uint32_t>((kRowReach + 1) * (kRowReach + 1)));
    // Lanes past the end of the row are far from everything, and nobody asks for them.
    if (x + static_cast<int64_t>(hn::Lanes(d)) <= n) {
      if (!hn::AllTrue(d, IsWithin(best, beyond))) return false;
    } else {
      const auto in_row = hn::FirstN(d, static_cast<size_t>(n - x));
      if (!hn::AllTrue(d, hn::Or(hn::Not(in_row), IsWithin(best, beyond)))) return false;
    }
    hn::StoreU(best, d, out + x);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(ScanColumnsKernel);
HWY_EXPORT(NearestKernel);

void ScanColumns(const uint8_t* sources,
                 int64_t width,
                 int64_t height,
                 int64_t stride,
                 uint32_t* squared) noexcept {
  SEGCAL_DISPATCH(ScanColumnsKernel)(sources, width, height, stride, squared);
}

bool NearestInRow(const uint32_t* squared, int64_t n, uint32_t* out) noexcept {
  return SEGCAL_DISPATCH(NearestKernel)(squared, n, out);
}

}  // namespace segcal
#endif
