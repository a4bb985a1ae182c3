// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "kernels/softmax.h"
#include "kernels/steps_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

// Non-positive floats by magnitude bits: 0 is -0.0, 1 the smallest denormal below it, ...
constexpr uint32_t kLastMagnitude = 0x42D00000u;  // 104

float FromMagnitude(uint32_t magnitude) { return std::bit_cast<float>(0x80000000u | magnitude); }

// Pairs of neighbours in a chunk of kChunk + 1 floats whose exp is not weakly decreasing.
constexpr uint32_t kChunk = 1u << 12;
int64_t CountInversions(uint32_t first) {
  float x[kChunk + 1];
  float y[kChunk + 1];
  for (uint32_t i = 0; i <= kChunk; ++i) x[i] = FromMagnitude(first + i);
  ExpArray(x, kChunk + 1, y);
  int count = 0;
  for (uint32_t i = 0; i < kChunk; ++i) count += y[i + 1] <= y[i] ? 0 : 1;
  return count;
}

// The float32 in [-104, 0] and a few below, 1.12e9 of them in the long test, on every instruction
// set of the machine.
TEST(ExpArray, IsMonotoneOverEveryFloat) {
  ForEveryTarget([](const std::string& target) {
    constexpr uint32_t kTask = kChunk * 256;
    const uint32_t step = RunStep();
    std::atomic<int64_t> inversions{0};
    ParallelFor(kLastMagnitude / kTask + 1, 0, [&](int64_t task, int) {
      const uint32_t begin = static_cast<uint32_t>(task) * kTask;
      int64_t count = 0;
      for (uint32_t i = static_cast<uint32_t>(task) % step; i < 256; i += step)
        count += CountInversions(begin + i * kChunk);
      inversions += count;
    });
    EXPECT_EQ(inversions.load(), 0) << target;
  });
}

// Distance in units in the last place of the exact value.
double UlpError(float x, float y) {
  const double exact = std::exp(static_cast<double>(x));
  return std::fabs(static_cast<double>(y) - exact) / std::ldexp(1.0, std::ilogb(exact) - 23);
}

TEST(ExpArray, IsWithinTwoUlpWhereTheResultIsNormal) {
  ForEveryTarget([](const std::string& target) {
    double worst = 0.0;
    std::vector<float> x;
    // A prime step visits all mantissas and exponents.
    for (uint32_t m = 0; FromMagnitude(m) >= -87.336f; m += 997) x.push_back(FromMagnitude(m));
    std::vector<float> y(x.size());
    ExpArray(x.data(), static_cast<int64_t>(x.size()), y.data());
    for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, UlpError(x[i], y[i]));
    EXPECT_LE(worst, 2.0) << target;
    RecordProperty("worst_ulp_" + target, std::to_string(worst));
  });
}

TEST(ExpArray, IsOneAtZeroAndZeroBelowTheNormalRange) {
  ForEveryTarget([](const std::string& target) {
    const std::vector<float> x = {0.0f, -0.0f, -87.3366f, -88.0f, -104.0f, -1e30f, -INFINITY};
    std::vector<float> y(x.size());
    ExpArray(x.data(), static_cast<int64_t>(x.size()), y.data());
    EXPECT_EQ(y[0], 1.0f) << target;
    EXPECT_EQ(y[1], 1.0f) << target;
    for (size_t i = 2; i < x.size(); ++i) EXPECT_EQ(y[i], 0.0f) << target << " " << x[i];
  });
}

TEST(ExpArray, NeverGivesASubnormalNumber) {
  ForEveryTarget([](const std::string& target) {
    std::vector<float> x;
    for (float f = -87.0f; f > -88.0f; f = std::nextafter(f, -1e9f)) x.push_back(f);
    std::vector<float> y(x.size());
    ExpArray(x.data(), static_cast<int64_t>(x.size()), y.data());
    for (const float e : y) ASSERT_TRUE(e == 0.0f || e >= 0x1p-126f) << target << " " << e;
  });
}

// Vectors of four, vectors and single values must not disagree.
TEST(ExpArray, DoesNotDependOnThePositionInTheArray) {
  ForEveryTarget([](const std::string& target) {
    std::vector<float> x;
    for (int i = 0; i < 131; ++i) x.push_back(-0.37f * static_cast<float>(i));
    std::vector<float> all(x.size());
    ExpArray(x.data(), static_cast<int64_t>(x.size()), all.data());
    for (size_t i = 0; i < x.size(); ++i) {
      float one = 0.0f;
      ExpArray(&x[i], 1, &one);
      ASSERT_EQ(all[i], one) << target << " " << i;
    }
  });
}

}  // namespace
}  // namespace segcal
