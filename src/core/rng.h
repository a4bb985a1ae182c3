// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace segcal {

// A counter-based generator: the n-th number of a stream is a pure function of (seed, stream, n),
// so work can be split over threads in any way and give the same numbers. Each draw mixes its
// counter with two rounds of a 64-bit finaliser (multiply and xor-shift, full avalanche).
class Rng {
 public:
  Rng(uint64_t seed, uint64_t stream) noexcept : key_(Mix(seed ^ Mix(stream + kGolden))) {}

  // Number n of the stream.
  uint64_t At(uint64_t n) const noexcept { return Mix(key_ + Mix(n * kGolden + kGolden)); }
  uint64_t Next() noexcept { return At(counter_++); }

  // In (0, 1), never 0 or 1: safe under log and quantile functions.
  double UniformAt(uint64_t n) const noexcept { return ToUnit(At(n)); }
  double Uniform() noexcept { return ToUnit(Next()); }

  // In [0, bound), bound > 0; the bias of the multiply method is below 2^-32 for bound < 2^32.
  int64_t Below(int64_t bound) noexcept {
    return static_cast<int64_t>(
        (static_cast<unsigned __int128>(Next()) * static_cast<uint64_t>(bound)) >> 64);
  }

  // Standard normal (Box-Muller; one of the pair).
  double Normal() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(Uniform()));
    return radius * std::cos(6.283185307179586 * Uniform());
  }

 private:
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
  static constexpr uint64_t Mix(uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  static double ToUnit(uint64_t x) noexcept {
    return (static_cast<double>(x >> 11) + 0.5) * 0x1p-53;
  }

  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace segcal
