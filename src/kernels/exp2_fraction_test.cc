// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exp2_fraction_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

// y = 2^x by the monotone polynomial, in place; n a multiple of four vectors of any target. Returns
// whether multiply-add is fused, which is what the kernels ask before they use it.
bool Exp2Fractions(float* x, int64_t n) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += 4 * lanes) {
    hn::Vec<decltype(d)> f[4];
    hn::Vec<decltype(d)> p[4];
    for (int k = 0; k < 4; ++k) f[k] = hn::LoadU(d, x + i + k * lanes);
    ScaledExp::Exp2Fraction<4, true>(d, f, p);
    for (int k = 0; k < 4; ++k) hn::StoreU(p[k], d, x + i + k * lanes);
  }
  return HWY_NATIVE_FMA != 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>

#include "core/parallel.h"
#include "kernels/steps_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

HWY_EXPORT(Exp2Fractions);

constexpr uint32_t kChunk = 1u << 12;
constexpr uint32_t kHalf = 0x3F000000u;  // bits of 0.5

// Neighbours f, f' away from zero with the sign `sign`, where 2^f' is on the wrong side of 2^f.
int64_t CountInversions(uint32_t sign, uint32_t first) {
  float y[2 * kChunk];
  for (uint32_t i = 0; i < kChunk; ++i) {
    const uint32_t magnitude = std::min(first + i, kHalf);
    y[i] = std::bit_cast<float>(sign | magnitude);
    y[kChunk + i] = std::bit_cast<float>(sign | std::min(magnitude + 1, kHalf));
  }
  SEGCAL_DISPATCH(Exp2Fractions)(y, 2 * kChunk);
  int count = 0;
  for (uint32_t i = 0; i < kChunk; ++i) {
    const bool inverted = sign == 0 ? y[kChunk + i] < y[i] : y[kChunk + i] > y[i];
    count += inverted ? 1 : 0;
  }
  return count;
}

bool IsFused() {
  float y[64] = {};
  return SEGCAL_DISPATCH(Exp2Fractions)(y, 64);
}

// Every float32 in [-1/2, 1/2], in the long test: with it, exp(scale u) is monotone in u for every
// scale.
TEST(Exp2Fraction, IsMonotoneOverEveryFloatWhereMultiplyAddIsFused) {
  ForEveryTarget([](const std::string& target) {
    if (!IsFused()) return;
    constexpr uint32_t kTask = kChunk * 256;
    const uint32_t step = RunStep();
    std::atomic<int64_t> inversions{0};
    ParallelFor(2 * (kHalf / kTask + 1), 0, [&](int64_t task, int) {
      const uint32_t sign = task % 2 == 0 ? 0u : 0x80000000u;
      const uint32_t begin = static_cast<uint32_t>(task / 2) * kTask;
      int64_t count = 0;
      for (uint32_t i = static_cast<uint32_t>(task / 2) % step; i < 256; i += step)
        count += CountInversions(sign, begin + i * kChunk);
      inversions += count;
    });
    EXPECT_EQ(inversions.load(), 0) << target;
  });
}

TEST(Exp2Fraction, StepsUpFromOnePowerToTheNext) {
  ForEveryTarget([](const std::string& target) {
    float y[64] = {0.5f, -0.5f, 0.0f};
    SEGCAL_DISPATCH(Exp2Fractions)(y, 64);
    EXPECT_LE(y[0], 2.0f * y[1]) << target;
    EXPECT_EQ(y[2], 1.0f) << target;
  });
}

}  // namespace
}  // namespace segcal
#endif
