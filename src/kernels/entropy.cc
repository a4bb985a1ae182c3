// SPDX-License-Identifier: Apache-2.0
#include "kernels/entropy.h"

#include <cmath>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/entropy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// others: sum of exp(u) over u < 0, plus the number of zeros less one; first: -sum of u exp(u).
HWY_INLINE void SumVoxels(const float* logits, int64_t num_classes, float* others, float* first) {
  constexpr int kGroup = 4;
  const DF d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF zero = hn::Zero(d);
  const ScaledExp exp(1.0);
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VF rest[kGroup], ties[kGroup], moment[kGroup];
    for (int k = 0; k < kGroup; ++k) {
      rest[k] = moment[k] = zero;
      ties[k] = hn::Set(d, -1.0f);
    }
    for (int64_t c = 0; c < num_classes; ++c) {
      VF u[kGroup], e[kGroup];
      for (int k = 0; k < kGroup; ++k) {
        u[k] = e[k] = hn::Load(d, logits + c * kTileVoxels + v + k * lanes);
      }
      exp.Apply<kGroup, false>(d, e);
      for (int k = 0; k < kGroup; ++k) {
        const auto largest = hn::Ge(u[k], zero);
        ties[k] = hn::Add(ties[k], hn::IfThenElseZero(largest, e[k]));
        rest[k] = hn::Add(rest[k], hn::IfThenZeroElse(largest, e[k]));
        moment[k] = hn::NegMulAdd(u[k], e[k], moment[k]);
      }
    }
    for (int k = 0; k < kGroup; ++k) {
      hn::Store(hn::Add(ties[k], rest[k]), d, others + v + k * lanes);
      hn::Store(moment[k], d, first + v + k * lanes);
    }
  }
}

void EntropyKernel(const Tile& tile, double* entropy) {
  alignas(64) float others[kTileVoxels];
  alignas(64) float first[kTileVoxels];
  SumVoxels(tile.logits, tile.num_classes, others, first);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const auto s = static_cast<double>(others[v]);
    entropy[v] = std::log1p(s) + static_cast<double>(first[v]) / (1.0 + s);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(EntropyKernel);

void EntropyTile(const Tile& tile, double* entropy) noexcept {
  SEGCAL_DISPATCH(EntropyKernel)(tile, entropy);
}

}  // namespace segcal
#endif
