// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace segcal {

// Value of an IEEE half; for single numbers, arrays are converted by kernels.
inline float FloatFromHalf(uint16_t bits) noexcept {
  const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

// The nearest IEEE half, ties to even; beyond the largest one, infinity.
inline uint16_t HalfFromFloat(float value) noexcept {
  const uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  const float magnitude = std::fabs(value);
  if (std::isnan(magnitude)) return static_cast<uint16_t>(sign | 0x7E00u);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7C00u);
  // Below 2^-14 the spacing stays 2^-24. A fraction that rounds up to 2048 carries into the
  // exponent.
  const int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
  const float steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  const uint32_t bits = (static_cast<uint32_t>(exponent + 14) << 10) + static_cast<uint32_t>(steps);
  return static_cast<uint16_t>(sign | bits);
}

// A bfloat16 as it lies in memory: the upper half of a float.
struct BFloat16 {
  uint16_t bits;
  explicit operator double() const noexcept {
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
  }
};

// The nearest bfloat16 of a number, ties to even.
inline BFloat16 BFloatFromFloat(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16)};
}

}  // namespace segcal
