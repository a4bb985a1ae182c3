// SPDX-License-Identifier: Apache-2.0
#include "report/colorize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "segcal/error.h"

namespace segcal {
namespace {

bool IsHatch(Rgb color) { return color == kHatchLight || color == kHatchDark; }

TEST(ColorizeLabels, GivesClassesTheirColorsAndHatchesTheIgnored) {
  const std::vector<int32_t> labels = {0, 1, -1, 2, 1, -1};
  const RgbImage image = ColorizeLabels(labels, {3, 2}, ClassColors(32, /*background=*/0));
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.pixels[0], kCalm);
  EXPECT_EQ(image.pixels[1], ClassColor(1));
  EXPECT_TRUE(IsHatch(image.pixels[2]));
  EXPECT_EQ(image.pixels[3], ClassColor(2));
  EXPECT_EQ(image.pixels[4], ClassColor(1));
  EXPECT_TRUE(IsHatch(image.pixels[5]));
}

TEST(ColorizeLabels, WithoutBackgroundClassZeroHasAColor) {
  EXPECT_EQ(ColorizeLabels(std::vector<int32_t>{0}, {1, 1}, ClassColors(1, -1)).pixels[0],
            ClassColor(0));
}

TEST(ColorizeLabels, HatchHasTwoColors) {
  const RgbImage image = ColorizeLabels(std::vector<int32_t>(400, -1), {20, 20}, {});
  EXPECT_FALSE(image.pixels[0] == image.pixels[1]);
}

TEST(ColorizeField, MapsEndsAndMiddle) {
  const std::vector<float> values = {2.0f, 4.0f, 3.0f, -9.0f, 9.0f};
  const RgbImage image = ColorizeField(values, {5, 1}, 2.0, 4.0, ColorMap::kHeat);
  const MapColors colors = FindColors(ColorMap::kHeat);
  EXPECT_EQ(image.pixels[0], colors.front());
  EXPECT_EQ(image.pixels[1], colors.back());
  EXPECT_EQ(image.pixels[2], colors[120]);
  EXPECT_EQ(image.pixels[3], colors.front());
  EXPECT_EQ(image.pixels[4], colors.back());
}

TEST(ColorizeField, ConstantTakesTheMiddleAndNotFiniteIsHatched) {
  const float inf = std::numeric_limits<float>::infinity();
  const RgbImage image = ColorizeField(
      std::vector<float>{1.0f, NAN, inf, -inf}, {4, 1}, 1.0, 1.0, ColorMap::kSequential);
  EXPECT_EQ(image.pixels[0], FindColors(ColorMap::kSequential)[120]);
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(IsHatch(image.pixels[i])) << i;
}

TEST(ColorizeConfidence, RunsFromTheFloorToOne) {
  const RgbImage image = ColorizeConfidence(std::vector<float>{0.5f, 1.0f}, {2, 1}, 0.5);
  const MapColors colors = FindColors(ColorMap::kSequential);
  EXPECT_EQ(image.pixels[0], colors.front());
  EXPECT_EQ(image.pixels[1], colors.back());
}

TEST(ColorizeErrors, MarksWrongRightAndIgnored) {
  const RgbImage image =
      ColorizeErrors(std::vector<int32_t>{0, 1, 1}, std::vector<int32_t>{0, 0, -1}, {3, 1});
  EXPECT_EQ(image.pixels[0], kCalm);
  EXPECT_EQ(image.pixels[1], kRed);
  EXPECT_TRUE(IsHatch(image.pixels[2]));
}

TEST(ColorizeFlips, TellsGoodFromBad) {
  const std::vector<int32_t> before = {0, 0, 1, 0, 0};
  const std::vector<int32_t> after = {0, 1, 0, 1, 1};
  const std::vector<int32_t> labels = {2, 1, 1, 2, -1};
  RgbImage image = ColorizeFlips(before, after, labels, {5, 1});
  EXPECT_TRUE(IsHatch(image.pixels.back()));
  image.pixels.pop_back();
  EXPECT_EQ(image.pixels, (std::vector<Rgb>{kCalm, kBlue, kRed, kAmber}));
}

TEST(Colorize, RefusesArraysOfAnotherSize) {
  const std::vector<int32_t> three(3, 0);
  const std::vector<int32_t> four(4, 0);
  const std::vector<float> values(3, 0.0f);
  EXPECT_THROW(ColorizeLabels(three, {2, 2}, {}), Error);
  EXPECT_THROW(ColorizeLabels({}, {0, 0}, {}), Error);
  EXPECT_THROW(ColorizeConfidence(values, {2, 2}, 0.0), Error);
  EXPECT_THROW(ColorizeErrors(four, three, {2, 2}), Error);
  EXPECT_THROW(ColorizeFlips(four, four, three, {2, 2}), Error);
}

}  // namespace
}  // namespace segcal
