// SPDX-License-Identifier: Apache-2.0
#include "data/case_image.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// A case of this shape with an image of the given values.
class CaseWithImage {
 public:
  template <class T>
  CaseWithImage(const std::vector<int64_t>& shape,
                DType dtype,
                const std::vector<int64_t>& image_shape,
                const std::vector<T>& values) {
    const auto scene = testing::RandomScene({.num_cases = 1, .num_classes = 2, .shape = shape});
    dataset_ = testing::WriteScene(scene, folder_.File("data"));
    dataset_.cases[0].image = folder_.File("image.npy");
    SaveArray(dataset_.cases[0].image.path(),
              {.dtype = dtype, .shape = image_shape, .spacing = {}},
              values.data());
  }
  CaseReader Open() const { return CaseReader(dataset_, dataset_.cases[0], {}, OpenOptions{}); }

 private:
  TempFolder folder_;
  Dataset dataset_;
};

// Closed form: of 0, 1, 2, ... n - 1 the mean is (n - 1) / 2 and the variance (n^2 - 1) / 12.
TEST(CaseImage, StandardisesEveryChannelAndReflects) {
  std::vector<uint8_t> values;
  for (int v = 0; v < 60; ++v) values.insert(values.end(), {static_cast<uint8_t>(v), 7});
  const CaseWithImage made({6, 10}, DType::kU8, {6, 10, 2}, values);
  const CaseReader reader = made.Open();
  const CaseImage image(reader);
  ASSERT_EQ(image.channels(), 2);
  PaddedBox box;
  image.CopyBox({.plane = 0, .y = 0, .x = 0, .rows = 6, .columns = 10}, &box);
  const double deviation = std::sqrt((60.0 * 60.0 - 1.0) / 12.0);
  for (int64_t y = -4; y < 10; ++y) {
    for (int64_t x = -4; x < 14; ++x) {
      const auto v = static_cast<double>(ReflectedIndex(y, 6) * 10 + ReflectedIndex(x, 10));
      ASSERT_NEAR(*box.At(0, y, x), (v - 29.5) / deviation, 1e-6);
      ASSERT_EQ(*box.At(1, y, x), 0.0f);
    }
  }
}

TEST(CaseImage, TakesVolumesAndUnitAxes) {
  const CaseWithImage volume({3, 4, 5}, DType::kF32, {3, 4, 5}, std::vector<float>(60, 1.0f));
  EXPECT_EQ(CaseImage(volume.Open()).channels(), 1);
  const CaseWithImage unit({1, 4, 5}, DType::kI16, {4, 5, 3}, std::vector<int16_t>(60, -3));
  EXPECT_EQ(CaseImage(unit.Open()).channels(), 3);
}

TEST(CaseImage, NamesWhatIsWrong) {
  const CaseWithImage other({6, 10}, DType::kU8, {6, 9}, std::vector<uint8_t>(54));
  ExpectError(ErrorCode::kBadData, {"image.npy", "(6, 9)", "(6, 10)"}, [&] {
    CaseImage image(other.Open());
  });
  std::vector<float> values(60, 0.0f);
  values[13] = NAN;
  const CaseWithImage bad({6, 10}, DType::kF32, {6, 10}, values);
  ExpectError(
      ErrorCode::kBadData, {"image.npy", "(1, 3)", "finite"}, [&] { CaseImage image(bad.Open()); });
}

}  // namespace
}  // namespace segcal
