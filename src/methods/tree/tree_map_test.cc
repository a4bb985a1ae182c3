// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_map.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "kernels/dispatch.h"
#include "kernels/tree_reference_for_test.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

std::vector<double> RandomWeights(const TreeShape& shape) {
  Rng rng(/*seed=*/11, /*stream=*/0);
  std::vector<double> weights(static_cast<size_t>(shape.num_parameters()));
  for (double& w : weights) w = static_cast<double>(static_cast<float>(0.02 * rng.Normal()));
  return weights;
}

std::vector<float> MapOf(const Scene& scene, const BindOptions& options) {
  const TreeShape shape{.classes = scene.dataset.num_classes()};
  TreeWeights weights(shape);
  weights.Pack(RandomWeights(shape));
  const auto stream = scene.Stream(1);
  return TemperatureMap(*stream->Open(0), {}, weights, options);
}

// Boxes of one strip's width against the whole width, one thread against three: to the bit.
TEST(TemperatureMap, HasNoSeams) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{131, 517}, {3, 61, 130}, {2, 3, 200}, {700}}) {
    const Scene scene = RandomScene({.num_cases = 1, .num_classes = 40, .shape = shape});
    const std::vector<float> whole = MapOf(scene, {.threads = 1, .memory = int64_t{64} << 20});
    ASSERT_EQ(whole.size(), static_cast<size_t>(scene.num_voxels()));
    for (const int threads : {1, 3}) {
      EXPECT_TRUE(MapOf(scene, {.threads = threads, .memory = 1}) == whole) << shape.size();
    }
    // 40 classes in a megabyte are boxes narrower than the planes above.
    EXPECT_LT(
        CutIntoBoxes(MakePlaneGrid(shape), 40, BoxBytes({.threads = 3, .memory = 1}))[0].columns,
        200);
  }
}

// Against the twin on a padded copy made here, without boxes.
TEST(TemperatureMap, AgreesWithReferenceAtBordersAndInside) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {2, 30, 21}});
  const TreeShape shape{.classes = 3};
  const std::vector<double> weights = RandomWeights(shape);
  const std::vector<float> map = MapOf(scene, {});
  const auto stream = scene.Stream(1);
  BoxReader reader({}, ScoreKind::kCanonical);
  const int64_t n = scene.num_voxels();
  std::vector<float> scores(static_cast<size_t>(3 * n));
  for (int64_t p = 0; p < 2; ++p) {
    reader.Read(*stream->Open(0), {.plane = p, .y = 0, .x = 0, .rows = 30, .columns = 21});
    const PaddedPlane plane = reader.scores().plane();
    std::vector<float> padded(3 * 38 * 29);
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t y = 0; y < 38; ++y) {
        for (int64_t x = 0; x < 29; ++x) {
          const int64_t from_y = ReflectedIndex(y - 4, 30) + 4;
          const int64_t from_x = ReflectedIndex(x - 4, 21) + 4;
          padded[static_cast<size_t>((c * 38 + y) * 29 + x)] =
              plane.data[c * plane.channel_stride + from_y * plane.row_stride + from_x];
        }
      }
    }
    const TreeStrip strip{.scores = {3, padded.data(), 29, 38 * 29}, .rows = 30};
    for (int64_t y = 0; y < 30; ++y) {
      for (int64_t x = 0; x < 21; ++x) {
        const double exact = reference::Tree(shape, weights, strip, y, x).temperature;
        ASSERT_NEAR(map[static_cast<size_t>((p * 30 + y) * 21 + x)], exact, 5e-6 * exact);
      }
    }
  }
}

}  // namespace
}  // namespace segcal
