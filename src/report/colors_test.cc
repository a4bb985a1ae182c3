// SPDX-License-Identifier: Apache-2.0
#include "report/colors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace segcal {
namespace {

double Decode(uint8_t channel) {
  const double x = channel / 255.0;
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

using Triple = std::array<double, 3>;

Triple Linear(Rgb color) { return {Decode(color.red), Decode(color.green), Decode(color.blue)}; }

// Linear light as a reader sees it whose vision the matrix describes.
Triple Seen(const std::array<Triple, 3>& matrix, const Triple& light) {
  Triple seen = {};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < 3; ++k) seen[i] += matrix[i][k] * light[k];
    seen[i] = std::clamp(seen[i], 0.0, 1.0);
  }
  return seen;
}

// OKLab of linear light, by the published forward matrices: the twin of what the maps invert.
Triple OkLab(const Triple& light) {
  const auto [r, g, b] = light;
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double Distance(const Triple& x, const Triple& y) {
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

double Distance(Rgb a, Rgb b) { return Distance(OkLab(Linear(a)), OkLab(Linear(b))); }

TEST(HexColor, WritesTwoDigitsPerChannel) { EXPECT_EQ(HexColor({0, 10, 255}), "#000aff"); }

// One step of 8-bit rounding moves lightness by up to 0.004 in the dark.
TEST(ColorMap, LightnessRisesLinearly) {
  for (const ColorMap map : {ColorMap::kSequential, ColorMap::kHeat}) {
    const MapColors colors = FindColors(map);
    for (size_t i = 0; i < colors.size(); ++i) {
      const double expected = 0.22 + 0.73 * static_cast<double>(i) / (kMapSteps - 1);
      EXPECT_NEAR(OkLab(Linear(colors[i]))[0], expected, 0.004) << "step " << i;
    }
  }
}

TEST(ColorMap, NeighboursNeverJump) {
  for (const ColorMap map : {ColorMap::kSequential, ColorMap::kHeat}) {
    const MapColors colors = FindColors(map);
    for (size_t i = 1; i < colors.size(); ++i)
      EXPECT_LT(Distance(colors[i - 1], colors[i]), 0.02) << i;
  }
}

TEST(MapStep, ClampsAndSurvivesNaN) {
  EXPECT_EQ(MapStep(0.0), 0u);
  EXPECT_EQ(MapStep(1.0), static_cast<size_t>(kMapSteps - 1));
  EXPECT_EQ(MapStep(0.5), 120u);
  EXPECT_EQ(MapStep(-3.0), 0u);
  EXPECT_EQ(MapStep(std::numeric_limits<double>::infinity()), static_cast<size_t>(kMapSteps - 1));
  EXPECT_EQ(MapStep(std::nan("")), 0u);
}

TEST(ClassColor, TwentyHandPickedColorsAreFarApart) {
  for (int64_t i = 0; i < 20; ++i) {
    for (const Rgb neutral : {kCalm, kHatchLight, kHatchDark, kPaper}) {
      EXPECT_GT(Distance(ClassColor(i), neutral), 0.08) << i;
    }
    for (int64_t k = 0; k < i; ++k)
      EXPECT_GT(Distance(ClassColor(i), ClassColor(k)), 0.08) << i << " " << k;
  }
}

// The linear-light matrices of Machado, Oliveira and Fernandes (2009) for complete red and green
// blindness.
TEST(ClassColor, FirstEightStayApartForColorBlindReaders) {
  using Matrix = std::array<Triple, 3>;
  constexpr Matrix kProtan = {{{0.152286, 1.052583, -0.204868},
                               {0.114503, 0.786281, 0.099216},
                               {-0.003882, -0.048116, 1.051998}}};
  constexpr Matrix kDeutan = {{{0.367322, 0.860646, -0.227968},
                               {0.280085, 0.672501, 0.047413},
                               {-0.011820, 0.042940, 0.968881}}};
  for (const Matrix& matrix : {kProtan, kDeutan}) {
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t k = 0; k < i; ++k) {
        const auto a = OkLab(Seen(matrix, Linear(ClassColor(i))));
        const auto b = OkLab(Seen(matrix, Linear(ClassColor(k))));
        EXPECT_GT(Distance(a, b), 0.05) << i << " " << k;
      }
    }
  }
}

TEST(ClassColor, TwoHundredClassesHaveTwoHundredColors) {
  for (int64_t i = 0; i < 200; ++i) {
    for (int64_t k = 0; k < i; ++k) EXPECT_FALSE(ClassColor(i) == ClassColor(k)) << i << " " << k;
  }
}

}  // namespace
}  // namespace segcal
