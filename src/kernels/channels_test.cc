// SPDX-License-Identifier: Apache-2.0
#include "kernels/channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace segcal {
namespace {

constexpr int64_t kChannels = 3;
constexpr size_t kValues = kChannels * kTileVoxels;

std::vector<float> Noise(uint64_t stream) {
  Rng rng(/*seed=*/2, stream);
  std::vector<float> values(kValues);
  for (float& x : values) x = static_cast<float>(3.0 * rng.Normal() - 1.0);
  return values;
}

// sum_v f(c, v), plainly.
template <class Term>
double SumOf(int64_t c, const Term& term) {
  double sum = 0.0;
  for (int64_t v = 0; v < kTileVoxels; ++v) sum += term(static_cast<size_t>(c * kTileVoxels + v));
  return sum;
}

TEST(Channels, SumsOfEachChannel) {
  const std::vector<float> u = Noise(1);
  double sums[2 * kChannels] = {1.0, 0, 0, 0, 0, 2.0};
  AddChannelSums(u.data(), kChannels, sums);
  for (int64_t c = 0; c < kChannels; ++c) {
    const double first = SumOf(c, [&](size_t i) { return u[i]; }) + (c == 0 ? 1.0 : 0.0);
    const double second = SumOf(c, [&](size_t i) { return double{u[i]} * u[i]; });
    EXPECT_NEAR(sums[c], first, 1e-11);
    EXPECT_NEAR(sums[kChannels + c], second + (c == 2 ? 2.0 : 0.0), 1e-10);
  }
}

TEST(Channels, RectifiesWhatItScalesAndShifts) {
  const std::vector<float> u = Noise(1);
  const float scale[] = {2.0f, -1.0f, 0.0f};
  const float shift[] = {0.5f, 0.0f, -1.0f};
  std::vector<float> out(kValues);
  ScaleShiftRelu(u.data(), kChannels, scale, shift, out.data());
  for (size_t i = 0; i < kValues; ++i) {
    const size_t c = i / kTileVoxels;
    EXPECT_FLOAT_EQ(out[i], std::max(0.0f, scale[c] * u[i] + shift[c]));
  }
}

TEST(Channels, GradientStopsWhereTheRectifierWasZero) {
  const std::vector<float> u = Noise(1);
  const std::vector<float> before = Noise(2);
  std::vector<float> active(kValues);
  for (size_t i = 0; i < kValues; ++i) active[i] = std::max(0.0f, u[i]);
  std::vector<float> delta = before;
  double sums[2 * kChannels] = {};
  ReluBack(active.data(), u.data(), kChannels, delta.data(), sums);
  for (size_t i = 0; i < kValues; ++i) EXPECT_EQ(delta[i], u[i] > 0.0f ? before[i] : 0.0f);
  for (int64_t c = 0; c < kChannels; ++c) {
    EXPECT_NEAR(sums[c], SumOf(c, [&](size_t i) { return delta[i]; }), 1e-11);
    EXPECT_NEAR(
        sums[kChannels + c], SumOf(c, [&](size_t i) { return double{delta[i]} * u[i]; }), 1e-10);
  }
}

TEST(Channels, GradientThroughANormalisationIsAffine) {
  const std::vector<float> u = Noise(1);
  const std::vector<float> before = Noise(2);
  std::vector<float> delta = before;
  const float abk[] = {2.0f, 1.0f, 0.0f, 0.5f, -1.0f, 0.0f, 3.0f, 0.0f, 7.0f};
  NormaliseBack(u.data(), kChannels, abk, delta.data());
  for (size_t i = 0; i < kValues; ++i) {
    const size_t c = i / kTileVoxels;
    const double exact = double{abk[c]} * before[i] + double{abk[3 + c]} * u[i] + abk[6 + c];
    EXPECT_NEAR(delta[i], exact, 1e-5);
  }
}

}  // namespace
}  // namespace segcal
