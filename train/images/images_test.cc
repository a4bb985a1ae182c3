// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/tile.h"
#include "train/images/patch.h"

namespace segcal::train {
namespace {

// An image whose values are linear in the position, and labels that name the column.
ImageCase Ramp(const Extent& extent) {
  ImageCase image;
  image.extent = extent;
  image.channels = 2;
  for (int64_t k = 0; k < 2; ++k) {
    for (int64_t z = 0; z < extent[0]; ++z) {
      for (int64_t y = 0; y < extent[1]; ++y) {
        for (int64_t x = 0; x < extent[2]; ++x)
          image.values.push_back(static_cast<float>(1000 * k + 100 * z + 10 * y + x));
      }
    }
  }
  for (int64_t v = 0; v < NumVoxels(extent); ++v)
    image.labels.push_back(static_cast<int32_t>(v % extent[2]));
  return image;
}

struct CopiedPatch {
  std::vector<float> values;
  std::vector<int64_t> labels;
};
CopiedPatch Copy(const ImageCase& image, const PatchView& view, const Extent& size) {
  CopiedPatch patch;
  patch.values.resize(static_cast<size_t>(image.channels * NumVoxels(size)));
  patch.labels.resize(static_cast<size_t>(NumVoxels(size)));
  CopyPatch(image, view, size, patch.values, patch.labels);
  return patch;
}

TEST(CopyPatch, TakesVoxelsAsTheyAre) {
  const CopiedPatch patch = Copy(Ramp({2, 5, 6}), {.first = {1.0, 2.0, 3.0}}, {1, 2, 2});
  EXPECT_EQ(patch.values, (std::vector<float>{123, 124, 133, 134, 1123, 1124, 1133, 1134}));
  EXPECT_EQ(patch.labels, (std::vector<int64_t>{3, 4, 3, 4}));
}

TEST(CopyPatch, MirrorsAndStretchesLinearly) {
  const PatchView view{.first = {0.0, 1.5, 4.0}, .step = {1.0, 0.5, -1.5}};
  const CopiedPatch patch = Copy(Ramp({1, 5, 6}), view, {1, 2, 3});
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double x = 4.0 - 1.5 * j;
      EXPECT_NEAR(patch.values[static_cast<size_t>(3 * i + j)], 10.0 * (1.5 + 0.5 * i) + x, 1e-4);
      EXPECT_EQ(patch.labels[static_cast<size_t>(3 * i + j)],
                static_cast<int64_t>(std::floor(x + 0.5)));
    }
  }
}

TEST(CopyPatch, HasNothingOutsideTheImage) {
  const CopiedPatch patch = Copy(Ramp({1, 2, 2}), {.first = {0.0, -1.0, 1.0}}, {1, 2, 2});
  EXPECT_EQ(patch.values[0], 0.0f);
  EXPECT_EQ(patch.values[3], 0.0f);
  EXPECT_EQ(patch.values[2], 1.0f);
  EXPECT_EQ(patch.labels, (std::vector<int64_t>{kNoLabel, kNoLabel, 1, kNoLabel}));
}

TEST(DrawView, StaysInsideLargeImagesAndDrawsAllOfThem) {
  const Extent image = {3, 40, 50};
  const Extent size = {1, 16, 16};
  const AugmentOptions augment{.scale = 0.2};
  double smallest = 1e9;
  double largest = -1e9;
  int mirrored = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const PatchView view = DrawView(image, size, augment, Rng(3, i));
    for (size_t axis = 0; axis < 3; ++axis) {
      const double end = view.first[axis] + view.step[axis] * static_cast<double>(size[axis] - 1);
      EXPECT_GE(std::min(view.first[axis], end), -1e-9);
      EXPECT_LE(std::max(view.first[axis], end), static_cast<double>(image[axis] - 1) + 1e-9);
    }
    EXPECT_EQ(view.first[0], std::floor(view.first[0]));
    EXPECT_EQ(view.step[0], 1.0);
    mirrored += view.step[1] < 0.0 ? 1 : 0;
    smallest = std::min(smallest, std::fabs(view.step[2]));
    largest = std::max(largest, std::fabs(view.step[2]));
  }
  EXPECT_NEAR(mirrored, 1000, 110);  // five standard deviations
  EXPECT_NEAR(smallest, std::exp(-0.2), 0.01);
  EXPECT_NEAR(largest, std::exp(0.2), 0.01);
}

TEST(DrawView, LeavesAsItIsWhatIsSwitchedOff) {
  const AugmentOptions off{.flips = false, .scale = 0.0, .intensity = 0.0, .noise = 0.0};
  const ImageCase image = Ramp({1, 9, 9});
  for (uint64_t i = 0; i < 20; ++i) {
    const PatchView view = DrawView(image.extent, {1, 4, 4}, off, Rng(3, i));
    const CopiedPatch patch = Copy(image, view, {1, 4, 4});
    const auto corner = static_cast<float>(10.0 * view.first[1] + view.first[2]);
    EXPECT_EQ(patch.values[5], corner + 11.0f);
  }
}

TEST(Normalisation, BringsMeanToZeroAndSpreadToOne) {
  ImageCase image = Ramp({1, 6, 7});
  ImageCase constant = image;
  std::fill(constant.values.begin(), constant.values.end(), 3.0f);
  Normalisation::Of({image}).Apply(&image);
  Normalisation{}.Apply(&constant);
  double sum = 0.0;
  double squares = 0.0;
  for (size_t v = 0; v < 42; ++v) {
    sum += static_cast<double>(image.values[v]);
    squares += std::pow(static_cast<double>(image.values[v]), 2.0);
  }
  EXPECT_NEAR(sum / 42.0, 0.0, 1e-6);
  EXPECT_NEAR(squares / 42.0, 1.0, 1e-6);
  for (const float value : constant.values) EXPECT_EQ(value, 0.0f);
}

}  // namespace
}  // namespace segcal::train
