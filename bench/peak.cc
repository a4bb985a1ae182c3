// SPDX-License-Identifier: Apache-2.0
#include "bench/peak.h"

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Twelve chains: two units with a latency of four need eight.
constexpr int kChains = 12;

int64_t Chains(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sum[kChains];
  for (int k = 0; k < kChains; ++k) sum[k] = hn::Set(d, sink[0] + static_cast<float>(k));
  const auto factor = hn::Set(d, 0.999f);
  const auto term = hn::Set(d, 0.001f);
  for (int64_t r = 0; r < rounds; ++r) {
    for (int k = 0; k < kChains; ++k) sum[k] = hn::MulAdd(sum[k], factor, term);
  }
  for (int k = 1; k < kChains; ++k) sum[0] = hn::Add(sum[0], sum[k]);
  *sink = hn::GetLane(hn::SumOfLanes(d, sum[0]));
  return rounds * kChains * static_cast<int64_t>(hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(Chains);

int64_t MultiplyAdds(int64_t rounds, float* sink) noexcept {
  return SEGCAL_DISPATCH(Chains)(rounds, sink);
}

}  // namespace segcal
#endif
