// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/sum_bytes.h"

namespace segcal {

// A sum whose value does not depend on the order of its terms: 128-bit fixed point with 2^-64
// resolution. Each term is rounded once to that grid; additions are exact, so merging partial sums
// of threads, ranks or files in any order gives the same bits. Range +-2^63, enough for 10^15
// voxels of |term| <= 8000; a term or sum outside it makes the value NaN, for good.
class ExactSum {
 public:
  void Add(double term) noexcept {
    // Also false for NaN.
    if (!(std::fabs(term) < kLimit)) {
      overflow_ = true;
      return;
    }
    const __int128 steps = RoundToSteps(term);
    AddFixed(term < 0.0 ? -steps : steps);
  }
  void Merge(const ExactSum& other) noexcept {
    overflow_ = overflow_ || other.overflow_;
    AddFixed(other.fixed_);
  }
  void Pack(SumWriter* out) const {
    out->Put(fixed_);
    out->Put(overflow_);
  }
  void Unpack(SumReader* in) {
    fixed_ = in->Take<__int128>();
    overflow_ = in->Take<bool>();
  }
  double value() const noexcept {
    if (overflow_) return std::nan("");
    return std::ldexp(static_cast<double>(fixed_), -64);
  }

 private:
  static constexpr double kLimit = 0x1p62;

  // |term| 2^64 rounded to the nearest whole number, half to even: term is mantissa 2^(exponent -
  // 1075). By its bits, because the functions of the C library took most of the time of a sum.
  static __int128 RoundToSteps(double term) noexcept {
    constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<uint64_t>(term);
    const auto exponent = static_cast<int>((bits >> 52) & 0x7FF);
    const uint64_t mantissa = (bits & kMantissa) | (exponent != 0 ? kMantissa + 1 : 0);
    const int shift = exponent - 1011;
    if (shift >= 0) return static_cast<__int128>(mantissa) << shift;
    if (shift < -53) return 0;  // below half a step
    const uint64_t odd = (mantissa >> -shift) & 1;
    return (mantissa + (uint64_t{1} << (-shift - 1)) - 1 + odd) >> -shift;
  }
  void AddFixed(__int128 term) noexcept {
    if (__builtin_add_overflow(fixed_, term, &fixed_)) overflow_ = true;
  }

  __int128 fixed_ = 0;
  bool overflow_ = false;
};

}  // namespace segcal
