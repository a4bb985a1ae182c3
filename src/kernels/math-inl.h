// SPDX-License-Identifier: Apache-2.0
// Elementary functions of one vector, per target. Included by kernels after highway.h.
#if defined(SEGCAL_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEGCAL_KERNELS_MATH_INL_H_
#undef SEGCAL_KERNELS_MATH_INL_H_
#else
#define SEGCAL_KERNELS_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <iterator>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adding it rounds |x| < 2^22 to the nearest integer, which then lies in the low bits of the sum.
inline constexpr float kRoundMagic = 0x1.8p23f;

// The smallest x whose exp is a normal float32: just above -126 log 2.
inline constexpr float kExpMin = -0x1.5d589ep6f;

// Functions on kN vectors go step by step side by side: the steps of one vector depend on each
// other, those of four keep the arithmetic units busy.

// x[k] <- exp(x[k]) for x <= 0: exp(0) = 1, weakly increasing, at most 2 ulp off down to kExpMin, 0
// below.
//
//   n = round(x / log 2),  r = x - n log 2,  exp(x) = 2^n (1 + (r + r^2 q(r)))
//
// q is the minimax polynomial of (e^r - 1 - r) / r^2 on |r| <= 0.347, relative error of exp 3e-9.
// Monotone because r is (n log2_hi is exact, so is x - n log2_hi), because the error of r^2 q(r) is
// smaller than the spacing of r, and because the two last additions round monotonically.
// The scaling is an addition to the exponent bits; below kExpMin they are meaningless and masked.
template <int kN, class D, class V = hn::Vec<D>>
HWY_INLINE void ExpNonPositive(D d, V* x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, kRoundMagic);
  V t[kN];
  V r[kN];
  V q[kN];
  for (int k = 0; k < kN; ++k) t[k] = hn::MulAdd(x[k], hn::Set(d, 0x1.715476p0f), magic);
  for (int k = 0; k < kN; ++k) q[k] = hn::Sub(t[k], magic);
  for (int k = 0; k < kN; ++k) r[k] = hn::NegMulAdd(q[k], hn::Set(d, 0x1.63p-1f), x[k]);
  for (int k = 0; k < kN; ++k) r[k] = hn::NegMulAdd(q[k], hn::Set(d, -0x1.bd0106p-13f), r[k]);
  for (int k = 0; k < kN; ++k) q[k] = hn::Set(d, 0x1.6a2328p-10f);
  for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(q[k], r[k], hn::Set(d, 0x1.123a8ep-7f));
  for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(q[k], r[k], hn::Set(d, 0x1.5558f6p-5f));
  for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(q[k], r[k], hn::Set(d, 0x1.555490p-3f));
  for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(q[k], r[k], hn::Set(d, 0x1.fffffcp-2f));
  for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(hn::Mul(r[k], r[k]), q[k], r[k]);
  for (int k = 0; k < kN; ++k) q[k] = hn::Add(hn::Set(d, 1.0f), q[k]);
  for (int k = 0; k < kN; ++k) {
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, t[k]));
    const V e = hn::BitCast(d, hn::Add(hn::BitCast(di, q[k]), exponent));
    x[k] = hn::IfThenElseZero(hn::Ge(x[k], hn::Set(d, kExpMin)), e);
  }
}

// Minimax polynomial of (e^r - 1 - r) / r^2 on |r| <= log(2) / 2, highest power first; relative
// error of exp 3e-16.
constexpr double kExpPolynomial[] = {
    0x1.27079ee4813c3p-22,
    0x1.72e9254d87471p-19,
    0x1.a01b7c6b4e83ap-16,
    0x1.a0198d4f56cbap-13,
    0x1.6c16c0c81eb83p-10,
    0x1.11111125b64a9p-7,
    0x1.5555555589140p-5,
    0x1.55555555507b9p-3,
    0x1.ffffffffffed2p-2,
};

// x[k] <- exp(x[k]) in double for x <= 0, at most 2 ulp off, 0 below -708 and at -inf. As the float
// version; log2_hi has 32 bits.
template <int kN, class D, class V = hn::Vec<D>>
HWY_INLINE void ExpNonPositiveDouble(D d, V* x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 0x1.8p52);
  V t[kN];
  V r[kN];
  V q[kN];
  for (int k = 0; k < kN; ++k) t[k] = hn::MulAdd(x[k], hn::Set(d, 1.4426950408889634), magic);
  for (int k = 0; k < kN; ++k) q[k] = hn::Sub(t[k], magic);
  for (int k = 0; k < kN; ++k) r[k] = hn::NegMulAdd(q[k], hn::Set(d, 0x1.62e42feep-1), x[k]);
  for (int k = 0; k < kN; ++k) r[k] = hn::NegMulAdd(q[k], hn::Set(d, 0x1.a39ef35793c76p-33), r[k]);
  for (int k = 0; k < kN; ++k) q[k] = hn::Set(d, kExpPolynomial[0]);
  for (size_t i = 1; i < std::size(kExpPolynomial); ++i) {
    for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(q[k], r[k], hn::Set(d, kExpPolynomial[i]));
  }
  for (int k = 0; k < kN; ++k) q[k] = hn::MulAdd(hn::Mul(r[k], r[k]), q[k], r[k]);
  for (int k = 0; k < kN; ++k) q[k] = hn::Add(hn::Set(d, 1.0), q[k]);
  for (int k = 0; k < kN; ++k) {
    const auto exponent = hn::ShiftLeft<52>(hn::BitCast(di, t[k]));
    const V e = hn::BitCast(d, hn::Add(hn::BitCast(di, q[k]), exponent));
    x[k] = hn::IfThenElseZero(hn::Ge(x[k], hn::Set(d, -708.0)), e);
  }
}

// exp(scale * u) for u <= 0. With fused multiply-add the scale goes into the argument reduction,
// factor = scale / log 2:
//
//   n = round(factor u),  f = factor u - n,  exp(scale u) = 2^n (1 + (c f + f^2 q(f))),  c = log 2
//
// Relative error of the polynomial 3e-9; at most 2 ulp off exp(scale() u) for every u; 0 below
// 2^-125. kMonotone: weakly increasing in u, for every scale >= 0. n and f are each rounded once
// from exact values, so f lies in [-1/2, 1/2] and grows with u; that the polynomial grows with f
// and that its value at 1/2 is not above twice that at -1/2 is tested for every float f. Sums do
// not need it and save an operation.
class ScaledExp {
 public:
  HWY_INLINE explicit ScaledExp(double scale) {
#if HWY_NATIVE_FMA
    factor_ = static_cast<float>(scale * 1.4426950408889634);
    scale_ = static_cast<double>(factor_) * 0.6931471805599453;
#else
    factor_ = static_cast<float>(scale);
    scale_ = static_cast<double>(factor_);
#endif
  }

  // The scale in effect: the given one, rounded to 24 bits.
  HWY_INLINE double scale() const { return scale_; }

  // u[k] <- exp(scale() u[k])
  template <int kN, bool kMonotone, class D, class V = hn::Vec<D>>
  HWY_INLINE void Apply(D d, V* u) const {
    const V factor = hn::Set(d, factor_);
#if HWY_NATIVE_FMA
    const V magic = hn::Set(d, kRoundMagic);
    V t[kN];
    V f[kN];
    for (int k = 0; k < kN; ++k) t[k] = hn::MulAdd(u[k], factor, magic);
    for (int k = 0; k < kN; ++k) f[k] = hn::Sub(t[k], magic);
    for (int k = 0; k < kN; ++k) f[k] = hn::MulSub(u[k], factor, f[k]);
    Exp2Fraction<kN, kMonotone>(d, f, u);
    for (int k = 0; k < kN; ++k) u[k] = TimesPower(d, u[k], t[k]);
#else
    for (int k = 0; k < kN; ++k) u[k] = hn::Mul(u[k], factor);
    ExpNonPositive<kN>(d, u);
#endif
  }

  // p[k] = 2^f[k] for |f| <= 1/2.
  template <int kN, bool kMonotone, class D, class V = hn::Vec<D>>
  static HWY_INLINE void Exp2Fraction(D d, const V* f, V* p) {
    const V one = hn::Set(d, 1.0f);
    const V log2 = hn::Set(d, 0x1.62e430p-1f);
    for (int k = 0; k < kN; ++k) p[k] = hn::Set(d, kQ4);
    for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(p[k], f[k], hn::Set(d, kQ3));
    for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(p[k], f[k], hn::Set(d, kQ2));
    for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(p[k], f[k], hn::Set(d, kQ1));
    for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(p[k], f[k], hn::Set(d, kQ0));
    if constexpr (kMonotone) {
      for (int k = 0; k < kN; ++k) p[k] = hn::Mul(hn::Mul(f[k], f[k]), p[k]);
      for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(f[k], log2, p[k]);
      for (int k = 0; k < kN; ++k) p[k] = hn::Add(one, p[k]);
    } else {
      for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(p[k], f[k], log2);
      for (int k = 0; k < kN; ++k) p[k] = hn::MulAdd(p[k], f[k], one);
    }
  }

 private:
  // p 2^n, n in the low bits of t.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V TimesPower(D d, V p, V t) {
    const hn::RebindToSigned<D> di;
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, t));
    const V e = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
    // Positive floats are ordered as their bits, and comparing integers leaves the multipliers
    // free.
    const auto limit = hn::BitCast(di, hn::Set(d, kRoundMagic - 126.0f));
    return hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(hn::BitCast(di, t), limit)), e);
  }

  // Minimax polynomial q of (2^f - 1 - f log 2) / f^2.
  static constexpr float kQ0 = 0x1.ebfbdcp-3f;
  static constexpr float kQ1 = 0x1.c6af7ap-5f;
  static constexpr float kQ2 = 0x1.3b2df8p-7f;
  static constexpr float kQ3 = 0x1.5f092cp-10f;
  static constexpr float kQ4 = 0x1.415ffap-13f;

  float factor_;
  double scale_;
};

// x = 2^exponent (1 + fraction) of normal positive x, fraction in [sqrt(1/2) - 1, sqrt(2) - 1),
// exact.
template <class D>
struct LogParts {
  hn::Vec<D> exponent;
  hn::Vec<D> fraction;
};
template <class D>
HWY_INLINE LogParts<D> SplitForLog(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto sqrt_half = hn::Set(di, 0x3F3504F3);
  const auto shifted = hn::Sub(hn::BitCast(di, x), sqrt_half);
  const auto mantissa = hn::Add(hn::And(shifted, hn::Set(di, 0x007FFFFF)), sqrt_half);
  return {hn::ConvertTo(d, hn::ShiftRight<23>(shifted)),
          hn::Sub(hn::BitCast(d, mantissa), hn::Set(d, 1.0f))};
}

// log(x) for normal positive float32 x, at most 2 ulp off:
//
//   x = 2^k (1 + f),  log x = k log 2 + f - f^2/2 + f^3 P(f)
//
// with P the minimax polynomial, relative error 6e-9.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LogPositive(D d, V x) {
  const LogParts<D> parts = SplitForLog(d, x);
  const V f = parts.fraction;
  V p = hn::Set(d, -0x1.38b632p-4f);
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.055b52p-3f));
  p = hn::MulAdd(p, f, hn::Set(d, -0x1.0d8510p-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.22da1cp-3f));
  p = hn::MulAdd(p, f, hn::Set(d, -0x1.54724ap-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.99a008p-3f));
  p = hn::MulAdd(p, f, hn::Set(d, -0x1.000226p-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.555554p-2f));
  const V f2 = hn::Mul(f, f);
  V tail = hn::Mul(hn::Mul(f2, f), p);
  tail = hn::MulAdd(parts.exponent, hn::Set(d, -0x1.bd0106p-13f), tail);
  tail = hn::NegMulAdd(hn::Set(d, 0.5f), f2, tail);
  return hn::MulAdd(parts.exponent, hn::Set(d, 0x1.63p-1f), hn::Add(f, tail));
}

// Minimax polynomial of log(1 + f) / f, highest power first; relative error 3e-12.
constexpr double kLogPolynomial[] = {
    -0x1.8bfecfc8581e8p-5,
    0x1.7837fbe558113p-4,
    -0x1.7e3b0e65cbdfbp-4,
    0x1.71dea4deedc31p-4,
    -0x1.94927ba0966f8p-4,
    0x1.c6e044e845786p-4,
    -0x1.00244b6325336p-3,
    0x1.249521cd2bbffp-3,
    -0x1.5554566dd32afp-3,
    0x1.999985d54522dp-3,
    -0x1.00000187f5ad1p-2,
    0x1.5555556b3ee9ap-2,
    -0x1.fffffffe9b8b0p-2,
    0x1.fffffffffc5bap-1,
};

// log(x[k]) in double for normal positive float32 x, relative error 3e-12. Longer than a series
// with a division, and quicker.
template <int kN, class DD, class DF = hn::Rebind<float, DD>>
HWY_INLINE void LogAsDouble(DD d, const hn::Vec<DF>* x, hn::Vec<DD>* log) {
  hn::Vec<DD> f[kN];
  hn::Vec<DD> whole[kN];
  for (int k = 0; k < kN; ++k) {
    const LogParts<DF> parts = SplitForLog(DF(), x[k]);
    f[k] = hn::PromoteTo(d, parts.fraction);
    whole[k] = hn::Mul(hn::PromoteTo(d, parts.exponent), hn::Set(d, 0.6931471805599453));
  }
  // Odd and even powers apart: two short chains instead of a long one.
  hn::Vec<DD> square[kN];
  hn::Vec<DD> odd[kN];
  for (int k = 0; k < kN; ++k) square[k] = hn::Mul(f[k], f[k]);
  for (int k = 0; k < kN; ++k) odd[k] = hn::Set(d, kLogPolynomial[0]);
  for (int k = 0; k < kN; ++k) log[k] = hn::Set(d, kLogPolynomial[1]);
  for (size_t i = 2; i < std::size(kLogPolynomial); i += 2) {
    for (int k = 0; k < kN; ++k)
      odd[k] = hn::MulAdd(odd[k], square[k], hn::Set(d, kLogPolynomial[i]));
    for (int k = 0; k < kN; ++k) {
      log[k] = hn::MulAdd(log[k], square[k], hn::Set(d, kLogPolynomial[i + 1]));
    }
  }
  for (int k = 0; k < kN; ++k) log[k] = hn::MulAdd(odd[k], f[k], log[k]);
  for (int k = 0; k < kN; ++k) log[k] = hn::MulAdd(log[k], f[k], whole[k]);
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#endif
