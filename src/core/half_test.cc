// SPDX-License-Identifier: Apache-2.0
#include "core/half.h"

#include <gtest/gtest.h>

#include <bit>

namespace segcal {
namespace {

// Independent twin for finite halves: the fields moved to where float32 has them.
float FromFields(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1Fu;
  uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0) {
    if (fraction == 0) return std::bit_cast<float>(sign);
    exponent = 1;
    for (; (fraction & 0x400u) == 0; --exponent) fraction <<= 1;
    fraction &= 0x3FFu;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

bool IsFinite(uint32_t bits) { return (bits & 0x7C00u) != 0x7C00u; }

TEST(Half, EveryFiniteValueEqualsItsFields) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    if (!IsFinite(bits)) continue;
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(FloatFromHalf(half)),
              std::bit_cast<uint32_t>(FromFields(half)))
        << bits;
  }
}

TEST(Half, EveryValueConvertsBackToItself) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = FloatFromHalf(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(HalfFromFloat(value), half);
  }
}

TEST(Half, InfinitiesAndNaNStayWhatTheyAre) {
  EXPECT_EQ(FloatFromHalf(0x7C00), INFINITY);
  EXPECT_EQ(FloatFromHalf(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(FloatFromHalf(0x7C01)));
  EXPECT_TRUE(std::isnan(FloatFromHalf(HalfFromFloat(NAN))));
  EXPECT_EQ(HalfFromFloat(INFINITY), 0x7C00);
  EXPECT_EQ(HalfFromFloat(-INFINITY), 0xFC00);
}

// Between two neighbours: the nearer one, from the middle the one with an even last bit.
TEST(Half, RoundsToTheNearestWithTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7BFFu; ++bits) {
    const float low = FloatFromHalf(static_cast<uint16_t>(bits));
    const float high = FloatFromHalf(static_cast<uint16_t>(bits + 1));
    const float middle = 0.5f * (low + high);  // exact: 12 bits
    ASSERT_EQ(HalfFromFloat(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(HalfFromFloat(std::nextafter(middle, 1e9f)), bits + 1);
    ASSERT_EQ(HalfFromFloat(middle), (bits & 1u) == 0 ? bits : bits + 1);
    ASSERT_EQ(HalfFromFloat(-middle), HalfFromFloat(middle) | 0x8000u);
  }
}

TEST(Half, OverflowsToInfinityFromTheMiddleOn) {
  EXPECT_EQ(HalfFromFloat(65504.0f), 0x7BFF);
  EXPECT_EQ(HalfFromFloat(std::nextafter(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(HalfFromFloat(65520.0f), 0x7C00);
  EXPECT_EQ(HalfFromFloat(-1e30f), 0xFC00);
}

}  // namespace
}  // namespace segcal
