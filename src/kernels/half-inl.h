// SPDX-License-Identifier: Apache-2.0
// Half and bfloat16 conversions of one vector, per target.
#if defined(SEGCAL_KERNELS_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEGCAL_KERNELS_HALF_INL_H_
#undef SEGCAL_KERNELS_HALF_INL_H_
#else
#define SEGCAL_KERNELS_HALF_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Floats of consecutive halves, exact; infinities and NaN stay what they are.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LoadHalves(D d, const uint16_t* halves) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, D> dh;
  return hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(halves)));
#else
  // The conversion Highway emulates elsewhere makes infinities finite. Moved to the place of a
  // float's, the exponent is too small by 127 - 15; that of infinity is all ones.
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> dh;
  const auto bits = hn::PromoteTo(du, hn::LoadU(dh, halves));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7FFFu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const V finite = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f));
  const V infinite = hn::BitCast(d, hn::Or(magnitude, hn::Set(du, 0x7F800000u)));
  const V smallest_infinite = hn::BitCast(d, hn::Set(du, 0x0F800000u));
  const auto is_finite = hn::Lt(hn::BitCast(d, magnitude), smallest_infinite);
  return hn::Or(hn::IfThenElse(is_finite, finite, infinite), hn::BitCast(d, sign));
#endif
}

// Floats of consecutive bfloat16 values, exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LoadBFloats(D d, const uint16_t* values) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> dh;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(dh, values))));
}

// Half bits, nearest even, of 0 <= x < 65520, one per 32-bit lane. Above 2^-14 the fraction is
// rounded in the integer; below, adding 1/2 aligns the last bit to 2^-24, the spacing of subnormal
// halves.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> HalfBits(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(di, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(di, 0xFFF)), odd);
  const auto normal = hn::Sub(hn::ShiftRight<13>(rounded), hn::Set(di, (127 - 15) << 10));
  const V half = hn::Set(d, 0.5f);
  const auto subnormal = hn::Sub(hn::BitCast(di, hn::Add(x, half)), hn::BitCast(di, half));
  const auto is_subnormal = hn::RebindMask(di, hn::Lt(x, hn::Set(d, 0x1p-14f)));
  return hn::IfThenElse(is_subnormal, subnormal, normal);
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#endif
