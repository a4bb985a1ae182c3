// SPDX-License-Identifier: Apache-2.0
#include "simulate/fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace segcal {
namespace {

// The weights of the bell, by smoothing a single 1 far from any border.
std::vector<double> Bell(double sigma, int64_t half) {
  std::vector<float> impulse(static_cast<size_t>(2 * half + 1), 0.0f);
  impulse[static_cast<size_t>(half)] = 1.0f;
  const std::vector<float> out = SmoothClamped({2 * half + 1}, impulse, sigma);
  return {out.begin(), out.end()};
}

// Mean over seeds of the product of two voxels of small fields.
double MeanProduct(const std::vector<int64_t>& shape, double sigma, size_t a, size_t b, int seeds) {
  double sum = 0.0;
  for (int s = 0; s < seeds; ++s) {
    const std::vector<float> field = GaussianField(shape, sigma, Rng(static_cast<uint64_t>(s), 5));
    sum += static_cast<double>(field[a]) * static_cast<double>(field[b]);
  }
  return sum / seeds;
}

TEST(SmoothClamped, BellHasUnitMassAndTheAskedVariance) {
  for (const double sigma : {0.3, 0.5, 1.0, 1.7, 4.0, 9.3}) {
    const int64_t half = 60;
    const std::vector<double> bell = Bell(sigma, half);
    double mass = 0.0;
    double variance = 0.0;
    for (size_t i = 0; i < bell.size(); ++i) {
      const double x = static_cast<double>(i) - static_cast<double>(half);
      mass += bell[i];
      variance += bell[i] * x * x;
    }
    EXPECT_NEAR(mass, 1.0, 1e-5) << "sigma " << sigma;
    EXPECT_NEAR(variance, sigma * sigma, 1e-4 * sigma * sigma) << "sigma " << sigma;
  }
}

// The correlation of the field is the autocorrelation of the bell; for an exact Gaussian it would
// be exp(-d^2 / 4 sigma^2).
TEST(GaussianField, CorrelationFallsLikeAGaussian) {
  for (const double sigma : {1.0, 1.7, 4.0, 9.3}) {
    const std::vector<double> bell = Bell(sigma, 120);
    double power = 0.0;
    for (const double w : bell) power += w * w;
    for (size_t lag = 0; lag < 30; ++lag) {
      double product = 0.0;
      for (size_t i = lag; i < bell.size(); ++i) product += bell[i] * bell[i - lag];
      const auto d = static_cast<double>(lag);
      EXPECT_NEAR(product / power, std::exp(-d * d / (4.0 * sigma * sigma)), 0.03)
          << "sigma " << sigma << ", distance " << lag;
    }
  }
}

// 4000 independent fields: a mean of squares of N(0, 1) has standard deviation sqrt(2 / 4000) =
// 0.022, a mean of products at most that.
TEST(GaussianField, HasUnitVarianceInCornersAndTheExpectedCovariance) {
  const std::vector<int64_t> shape = {4, 6};
  const double sigma = 1.7;
  const double lag_two = std::exp(-4.0 / (4.0 * sigma * sigma));
  EXPECT_NEAR(MeanProduct(shape, sigma, 0, 0, 4000), 1.0, 0.09);
  EXPECT_NEAR(MeanProduct(shape, sigma, 9, 9, 4000), 1.0, 0.09);
  EXPECT_NEAR(MeanProduct(shape, sigma, 8, 10, 4000), lag_two, 0.09);
  EXPECT_NEAR(MeanProduct(shape, sigma, 3, 15, 4000), lag_two, 0.09);
}

TEST(GaussianField, IsUnitVarianceInThreeDimensions) {
  EXPECT_NEAR(MeanProduct({2, 3, 3}, 1.2, 0, 0, 4000), 1.0, 0.09);
}

TEST(GaussianField, WithoutSmoothingNeighboursAreIndependent) {
  const std::vector<float> field = GaussianField({200, 501}, 0.0, Rng(3, 1));
  double variance = 0.0;
  double beside = 0.0;
  double below = 0.0;
  for (size_t i = 0; i + 501 < field.size(); ++i) {
    const auto x = static_cast<double>(field[i]);
    variance += x * x;
    beside += x * static_cast<double>(field[i + 1]);
    below += x * static_cast<double>(field[i + 501]);
  }
  const auto n = static_cast<double>(field.size() - 501);
  EXPECT_NEAR(variance / n, 1.0, 4.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(beside / n, 0.0, 4.0 / std::sqrt(n));
  EXPECT_NEAR(below / n, 0.0, 4.0 / std::sqrt(n));
}

// Oracle: the sum over both axes of bell weights times clamped values.
TEST(SmoothClamped, MatchesDirectSummationWithContinuedEdges) {
  const int64_t height = 5;
  const int64_t width = 7;
  std::vector<float> values;
  Rng rng(11, 0);
  for (int64_t i = 0; i < height * width; ++i) values.push_back(static_cast<float>(rng.Normal()));
  const std::vector<double> bell = Bell(1.3, 8);
  const std::vector<float> out = SmoothClamped({height, width}, values, 1.3);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      double sum = 0.0;
      for (int64_t dy = -8; dy <= 8; ++dy) {
        for (int64_t dx = -8; dx <= 8; ++dx) {
          const int64_t sy = std::clamp<int64_t>(y + dy, 0, height - 1);
          const int64_t sx = std::clamp<int64_t>(x + dx, 0, width - 1);
          sum += bell[static_cast<size_t>(dy + 8)] * bell[static_cast<size_t>(dx + 8)] *
                 static_cast<double>(values[static_cast<size_t>(sy * width + sx)]);
        }
      }
      EXPECT_NEAR(static_cast<double>(out[static_cast<size_t>(y * width + x)]), sum, 1e-5);
    }
  }
}

}  // namespace
}  // namespace segcal
