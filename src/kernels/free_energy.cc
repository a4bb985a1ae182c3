// SPDX-License-Identifier: Apache-2.0
#include <iterator>

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

// Minimax polynomial of exp on |r| <= log(2) / 2, highest power first; relative error 8e-13.
constexpr double kExpPolynomial[] = {0x1.9eda9b9ffe00fp-16, 0x1.a1a82bd8b48c9p-13, 0x1.6c18b34a5c68ap-10,
                                     0x1.111082a3cbcc1p-7,  0x1.55555404fa7bap-5,  0x1.555555a08ad40p-3,
                                     0x1.0000000088003p-1,  0x1.ffffffffd55c9p-1,  0x1.ffffffffff7a3p-1};

// x[k] <- exp(x[k]) for -700 <= x <= 0: n = round(x / log 2), r = x - n log 2, exp(x) = 2^n p(r). The
// rounding of n log 2 adds up to |x| 2^-53.
HWY_INLINE void ExpDouble(VD* x) {
  const DD d;
  const hn::RebindToSigned<DD> di;
  const VD magic = hn::Set(d, 0x1.8p52);
  VD t[kGroup];
  VD p[kGroup];
  for (int k = 0; k < kGroup; ++k) t[k] = hn::MulAdd(x[k], hn::Set(d, 1.4426950408889634), magic);
  for (int k = 0; k < kGroup; ++k) p[k] = hn::Sub(t[k], magic);
  for (int k = 0; k < kGroup; ++k) x[k] = hn::NegMulAdd(p[k], hn::Set(d, 0.6931471805599453), x[k]);
  for (int k = 0; k < kGroup; ++k) p[k] = hn::Set(d, kExpPolynomial[0]);
  for (size_t i = 1; i < std::size(kExpPolynomial); ++i) {
    for (int k = 0; k < kGroup; ++k) p[k] = hn::MulAdd(p[k], x[k], hn::Set(d, kExpPolynomial[i]));
  }
  for (int k = 0; k < kGroup; ++k) {
    const auto exponent = hn::ShiftLeft<52>(hn::BitCast(di, t[k]));
    x[k] = hn::BitCast(d, hn::Add(hn::BitCast(di, p[k]), exponent));
  }
}

// log(x), x >= 1, from the logarithm of the nearest float32: log x = log y + (x - y) / y, the next
// term being below 2^-49.
HWY_INLINE VD LogOf(VD x) {
  const DD d;
  const hn::Vec<DFofD> nearest = hn::DemoteTo(DFofD(), x);
  const VD y = hn::PromoteTo(d, nearest);
  VD log_nearest;
  LogToDouble<1>(d, &nearest, &log_nearest);
  return hn::Add(log_nearest, hn::Div(hn::Sub(x, y), y));
}

void FreeEnergyPass(const Tile& tile, double* free_energy) {
  const DD d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VD sum[kGroup];
    for (int k = 0; k < kGroup; ++k) sum[k] = hn::Zero(d);
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      const float* row = tile.logits + c * kTileVoxels + v;
      VD x[kGroup];
      for (int k = 0; k < kGroup; ++k) x[k] = hn::PromoteTo(d, hn::Load(DFofD(), row + k * lanes));
      ExpDouble(x);
      for (int k = 0; k < kGroup; ++k) sum[k] = hn::Add(sum[k], x[k]);
    }
    for (int k = 0; k < kGroup; ++k) {
      const int64_t at = v + k * lanes;
      hn::Store(hn::Add(hn::Load(d, tile.offset + at), LogOf(sum[k])), d, free_energy + at);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(FreeEnergyPass);

void FreeEnergyTile(const Tile& tile, double* free_energy) noexcept {
  SEGCAL_DISPATCH(FreeEnergyPass)(tile, free_energy);
}

}  // namespace segcal
#endif
