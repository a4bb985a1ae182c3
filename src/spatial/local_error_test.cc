// SPDX-License-Identifier: Apache-2.0
#include "spatial/local_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

constexpr float kUpper[] = {0.25f, 0.5f, 0.75f, 1.0f};
const BinEdges kEdges{.upper = kUpper, .closed_above = true};

struct Scene {
  VoxelGrid grid = MakeGrid(std::vector<int64_t>{3, 8, 9});
  std::vector<float> confidence;
  std::vector<uint16_t> predicted;
  std::vector<int32_t> labels;

  Scene() {
    Rng rng(5, 0);
    for (int64_t v = 0; v < grid.num_voxels(); ++v) {
      confidence.push_back(static_cast<float>(rng.Uniform()));
      predicted.push_back(static_cast<uint16_t>(rng.Below(3)));
      labels.push_back(static_cast<int32_t>(rng.Below(4)) - 1);
    }
    for (size_t v = 0; v < 40; ++v) labels[v] = kNoLabel;
  }
  std::vector<float> Map(int64_t radius, int threads = 1) const {
    return LocalCalibrationError(grid, confidence, predicted, labels, kEdges, radius, threads);
  }
  // (RG4) as written.
  double Expected(const VoxelBox& window) const {
    double gaps[4] = {};
    double count = 0.0;
    ForEachVoxel(grid, window, [&](int64_t voxel, int64_t) {
      const auto v = static_cast<size_t>(voxel);
      if (labels[v] == kNoLabel) return;
      const auto bin = static_cast<size_t>(std::ceil(4.0 * confidence[v])) - 1;
      gaps[bin] += confidence[v] - (labels[v] == predicted[v] ? 1.0 : 0.0);
      count += 1.0;
    });
    double sum = 0.0;
    for (const double gap : gaps) sum += std::fabs(gap);
    return sum / count;  // NaN for an empty window
  }
};

TEST(LocalCalibrationError, IsTheErrorOfEachWindow) {
  const Scene scene;
  for (const int64_t radius : {0, 1, 3}) {
    const std::vector<float> map = scene.Map(radius);
    for (int64_t v = 0; v < scene.grid.num_voxels(); ++v) {
      const std::array<int64_t, 3> at = {v / 72, v / 9 % 8, v % 9};
      VoxelBox window;
      for (size_t axis = 0; axis < 3; ++axis) {
        window.begin[axis] = std::max<int64_t>(0, at[axis] - radius);
        window.end[axis] = std::min(scene.grid.size[axis], at[axis] + radius + 1);
      }
      const double expected = scene.Expected(window);
      const float found = map[static_cast<size_t>(v)];
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(found));
      } else {
        ASSERT_NEAR(found, expected, 1e-9 + 0x1p-24 * expected);
      }
    }
  }
}

TEST(LocalCalibrationError, OfAWindowLargerThanTheImageIsTheErrorOfTheImage) {
  const Scene scene;
  const double expected = scene.Expected({.begin = {0, 0, 0}, .end = scene.grid.size});
  for (const float found : scene.Map(50)) ASSERT_NEAR(found, expected, 1e-7);
}

TEST(LocalCalibrationError, HasTheSameBitsForAnyNumberOfThreads) {
  const Scene scene;
  const std::vector<float> one = scene.Map(2, 1);
  const std::vector<float> three = scene.Map(2, 3);
  for (size_t v = 0; v < one.size(); ++v) {
    ASSERT_TRUE(one[v] == three[v] || (std::isnan(one[v]) && std::isnan(three[v])));
  }
}

}  // namespace
}  // namespace segcal
