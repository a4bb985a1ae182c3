// SPDX-License-Identifier: Apache-2.0
#include "corrupt/image.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

template <class T>
Image MakeImage(const std::vector<T>& values,
                DType dtype,
                const std::vector<int64_t>& shape,
                const std::vector<int64_t>& spatial,
                const CorruptOptions& options = {}) {
  const ArrayInfo info{.dtype = dtype, .shape = shape, .spacing = {}};
  return Image(ArrayOverMemory("a.npy", info, values.data()), spatial, options);
}

TEST(Image, BytesAreFractionsOf255AndComeBackAsTheyWere) {
  std::vector<uint8_t> values(256);
  for (size_t i = 0; i < 256; ++i) values[i] = static_cast<uint8_t>(i);
  const Image image = MakeImage(values, DType::kU8, {16, 16}, {16, 16});
  const Plane plane = image.Read(0);
  EXPECT_EQ(plane.values[51], 0.2f);
  const std::vector<std::byte> bytes = image.Render(plane);
  EXPECT_EQ(std::memcmp(bytes.data(), values.data(), 256), 0);
}

TEST(Image, SixteenBitsComeBackAsTheyWere) {
  std::vector<uint16_t> values;
  for (int i = 0; i < 65536; i += 7) values.push_back(static_cast<uint16_t>(i));
  const auto n = static_cast<int64_t>(values.size());
  const Image image = MakeImage(values, DType::kU16, {1, n}, {1, n});
  const std::vector<std::byte> bytes = image.Render(image.Read(0));
  EXPECT_EQ(std::memcmp(bytes.data(), values.data(), bytes.size()), 0);
}

TEST(Image, VolumesArePlanesAlongTheFirstAxisWithChannelsLast) {
  std::vector<float> values(2 * 3 * 4 * 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 100.0f;
  const Image image = MakeImage(values, DType::kF32, {2, 3, 4, 2}, {2, 3, 4});
  EXPECT_EQ(image.num_planes(), 2);
  const Plane plane = image.Read(1);
  EXPECT_EQ(plane.height, 3);
  EXPECT_EQ(plane.width, 4);
  EXPECT_EQ(plane.channels, 2);
  EXPECT_EQ(plane.values.front(), 0.24f);
}

TEST(Image, TakesTheRangeGivenOrThatOfTheImage) {
  const std::vector<int16_t> values = {-1000, 0, 250, 1000};
  CorruptOptions options;
  options.range_of_image = true;
  EXPECT_EQ(MakeImage(values, DType::kI16, {2, 2}, {2, 2}, options).Read(0).values[2], 0.625f);
  options = {};
  options.range = IntensityRange{-1000.0, 3000.0};
  EXPECT_EQ(MakeImage(values, DType::kI16, {2, 2}, {2, 2}, options).Read(0).values[1], 0.25f);
}

TEST(Image, RefusesWhatHasNoBlackAndWhite) {
  const std::vector<int16_t> values = {-1000, 0, 250, 1000};
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "int16", "range"}, [&] {
    MakeImage(values, DType::kI16, {2, 2}, {2, 2});
  });
  CorruptOptions options;
  options.range = IntensityRange{5.0, 5.0};
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "5 to 5"}, [&] {
    MakeImage(values, DType::kI16, {2, 2}, {2, 2}, options);
  });
  const std::vector<float> even(4, 3.0f);
  options = {};
  options.range_of_image = true;
  ExpectError(ErrorCode::kBadData, {"a.npy", "all values are 3"}, [&] {
    MakeImage(even, DType::kF32, {2, 2}, {2, 2}, options);
  });
}

TEST(Image, RefusesValuesOutsideTheRangeAndThoseThatAreNoNumbers) {
  const std::vector<float> bright = {0.0f, 1.5f};
  ExpectError(ErrorCode::kBadData, {"a.npy", "1.5", "range"}, [&] {
    MakeImage(bright, DType::kF32, {1, 2}, {1, 2}).Read(0);
  });
  const std::vector<float> nan = {0.0f, std::numeric_limits<float>::quiet_NaN()};
  ExpectError(ErrorCode::kBadData, {"a.npy", "nan"}, [&] {
    MakeImage(nan, DType::kF32, {1, 2}, {1, 2}).Read(0);
  });
}

TEST(Image, RefusesAnotherShapeThanThatOfTheCase) {
  const std::vector<uint8_t> values(12);
  ExpectError(ErrorCode::kBadData, {"a.npy", "(3, 4)", "(4, 4)"}, [&] {
    MakeImage(values, DType::kU8, {3, 4}, {4, 4});
  });
}

TEST(ListImages, RefusesTwoFilesOfOneName) {
  ExpectError(ErrorCode::kInvalidArgument, {"x/a.png", "y/a.jpg", "\"a\""}, [] {
    ListImages({"x/a.png", "y/a.jpg"});
  });
  const auto sources = ListImages({"x/a.b.nii.gz", "y/B.PNG"});
  EXPECT_EQ(sources[0].id, "a.b");
  EXPECT_EQ(sources[1].id, "B");
}

}  // namespace
}  // namespace segcal
