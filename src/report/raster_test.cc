// SPDX-License-Identifier: Apache-2.0
#include "report/raster.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "report/svg_reader_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

RgbImage RandomImage(int64_t width, int64_t height, int64_t num_colors) {
  Rng rng(11, 0);
  RgbImage image(width, height);
  for (Rgb& pixel : image.pixels) {
    const int64_t n = rng.Below(num_colors);
    pixel = {
        static_cast<uint8_t>(n % 256), static_cast<uint8_t>(n / 256), static_cast<uint8_t>(7 * n)};
  }
  return image;
}

// The vectors of RFC 4648, section 10, and the two digits beyond the alphabet.
TEST(Base64, AgreesWithKnownVectors) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xFB\xEF\xFF"), "++//");
}

TEST(EncodePng, IsReadBackPixelByPixel) {
  for (const int64_t colors : {1, 2, 255, 256, 257, 65536}) {
    for (const auto& [width, height] : {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {61, 40}}) {
      const RgbImage image = RandomImage(width, height, colors);
      const RgbImage copy = testing::DecodePng(EncodePng(image));
      EXPECT_EQ(copy.width, width);
      EXPECT_EQ(copy.height, height);
      EXPECT_EQ(copy.pixels, image.pixels) << colors << " colours";
    }
  }
}

TEST(EncodePng, UsesAPaletteForUpTo256Colors) {
  const auto color_type = [](const std::string& png) {
    return static_cast<int>(png[25]);
  };  // in IHDR
  RgbImage image(257, 1);
  for (size_t i = 0; i < 256; ++i) image.pixels[i].red = static_cast<uint8_t>(i);
  EXPECT_EQ(color_type(EncodePng(image)), 3);
  image.pixels[256].green = 1;
  EXPECT_EQ(color_type(EncodePng(image)), 2);
}

TEST(EncodePng, HoldsIncompressiblePixels) {
  const RgbImage image = RandomImage(300, 200, 1 << 24);
  EXPECT_EQ(testing::DecodePng(EncodePng(image)).pixels, image.pixels);
}

TEST(EncodePng, GivesTheSameBytesEachTime) {
  EXPECT_EQ(EncodePng(RandomImage(64, 64, 100)), EncodePng(RandomImage(64, 64, 100)));
}

TEST(EncodePng, RefusesAnEmptyPicture) { EXPECT_THROW(EncodePng(RgbImage()), Error); }

TEST(Thin, TakesEveryKthPixel) {
  RgbImage image(5, 3);
  for (size_t i = 0; i < 15; ++i) image.pixels[i].red = static_cast<uint8_t>(i);
  const RgbImage thin = Thin(image, 3);
  ASSERT_EQ(thin.width, 3);
  ASSERT_EQ(thin.height, 2);
  const std::vector<Rgb> expected = {
      {0, 0, 0}, {2, 0, 0}, {4, 0, 0}, {10, 0, 0}, {12, 0, 0}, {14, 0, 0}};
  EXPECT_EQ(thin.pixels, expected);
  EXPECT_EQ(Thin(image, 5).pixels, image.pixels);
}

TEST(Enlarge, RepeatsPixelsAndIsUndoneByThin) {
  const RgbImage image = RandomImage(4, 3, 100);
  const RgbImage large = Enlarge(image, 3);
  EXPECT_EQ(large.width, 12);
  EXPECT_EQ(large.height, 9);
  EXPECT_EQ(large.pixels[12 * 5 + 7], image.pixels[4 * 1 + 2]);
  EXPECT_EQ(Thin(large, 4).pixels, image.pixels);
}

}  // namespace
}  // namespace segcal
