// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"
#include "kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/free_energy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;
using DFofD = hn::Rebind<float, DD>;

// Vectors of voxels handled together.
constexpr int kGroup = 4;

// log(x), x >= 1, from the logarithm of the nearest float32: log x = log y + (x - y) / y, the next
// term being below 2^-49.
HWY_INLINE VD ComputeLog(VD x) {
  const DD d;
  const hn::Vec<DFofD> nearest = hn::DemoteTo(DFofD(), x);
  const VD y = hn::PromoteTo(d, nearest);
  VD log_nearest;
  LogAsDouble<1>(d, &nearest, &log_nearest);
  return hn::Add(log_nearest, hn::Div(hn::Sub(x, y), y));
}

void FreeEnergyKernel(const Tile& tile, double* free_energy) {
  const DD d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VD sum[kGroup];
    for (int k = 0; k < kGroup; ++k) sum[k] = hn::Zero(d);
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      const float* row = tile.logits + c * kTileVoxels + v;
      VD x[kGroup];
      for (int k = 0; k < kGroup; ++k) x[k] = hn::PromoteTo(d, hn::Load(DFofD(), row + k * lanes));
      ExpNonPositiveDouble<kGroup>(d, x);
      for (int k = 0; k < kGroup; ++k) sum[k] = hn::Add(sum[k], x[k]);
    }
    for (int k = 0; k < kGroup; ++k) {
      const int64_t at = v + k * lanes;
      hn::Store(hn::Add(hn::Load(d, tile.offset + at), ComputeLog(sum[k])), d, free_energy + at);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(FreeEnergyKernel);

void FreeEnergyTile(const Tile& tile, double* free_energy) noexcept {
  SEGCAL_DISPATCH(FreeEnergyKernel)(tile, free_energy);
}

}  // namespace segcal
#endif
