// SPDX-License-Identifier: Apache-2.0
#include "kernels/distances.h"

#include <limits>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/distances.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void DistanceKernel(const int32_t* squared, double unknown, double* distance) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const auto none = hn::Set(d, static_cast<double>(std::numeric_limits<int32_t>::max()));
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    const auto x = hn::PromoteTo(d, hn::LoadU(di, squared + v));
    const auto root = hn::IfThenElse(hn::Eq(x, none), hn::Set(d, unknown), hn::Sqrt(x));
    hn::Store(root, d, distance + v);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(DistanceKernel);

void DistanceTile(const int32_t* squared, double unknown, double* distance) noexcept {
  SEGCAL_DISPATCH(DistanceKernel)(squared, unknown, distance);
}

}  // namespace segcal
#endif
