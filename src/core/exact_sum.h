// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    // Split so that both parts convert exactly: the whole part, then 2^-64 steps of the rest.
    const double whole = std::trunc(term);
    const double rest = std::nearbyint(std::ldexp(term - whole, 64));
    AddFixed((static_cast<__int128>(static_cast<int64_t>(whole)) << 64) +
             static_cast<__int128>(rest));
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
  void AddFixed(__int128 term) noexcept {
    if (__builtin_add_overflow(fixed_, term, &fixed_)) overflow_ = true;
  }

  __int128 fixed_ = 0;
  bool overflow_ = false;
};

}  // namespace segcal
