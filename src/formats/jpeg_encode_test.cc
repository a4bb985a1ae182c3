// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "formats/jpeg.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

// A ramp, red rising to the right and green downwards.
std::vector<uint8_t> Ramp(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c)
        pixels.push_back(static_cast<uint8_t>(c == 1 ? 4 * y : 4 * x));
    }
  }
  return pixels;
}

int LargestError(int64_t channels, int quality) {
  const std::vector<uint8_t> pixels = Ramp(40, 56, channels);
  const Bytes file = EncodeJpeg("a", {pixels.data(), 40, 56, channels}, quality);
  const auto array = DecodeJpeg("a", file);
  std::vector<uint8_t> found(pixels.size());
  array->Read(0, static_cast<int64_t>(found.size()), found.data());
  int largest = 0;
  for (size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(int{found[i]} - int{pixels[i]}));
  return largest;
}

TEST(JpegEncode, ASmoothPictureComesBackAlmostAsItWas) {
  EXPECT_LE(LargestError(1, 100), 1);
  EXPECT_LE(LargestError(3, 100), 6);  // chroma has half the resolution
}

TEST(JpegEncode, LowerQualityIsSmallerAndWorse) {
  const std::vector<uint8_t> pixels = Ramp(40, 56, 3);
  const JpegPicture picture{pixels.data(), 40, 56, 3};
  EXPECT_LT(EncodeJpeg("a", picture, 10).size(), EncodeJpeg("a", picture, 90).size());
  EXPECT_GT(LargestError(3, 10), LargestError(3, 90));
}

TEST(JpegEncode, RefusesSizesThatNoJpegHas) {
  const std::vector<uint8_t> pixels(70000);
  ExpectError(ErrorCode::kUnsupported, {"b: ", "1 x 70000", "65500"}, [&] {
    EncodeJpeg("b", {pixels.data(), 1, 70000, 1}, 50);
  });
  ExpectError(ErrorCode::kUnsupported, {"b: ", "0 x 3"}, [&] {
    EncodeJpeg("b", {pixels.data(), 0, 3, 1}, 50);
  });
}

}  // namespace
}  // namespace segcal
