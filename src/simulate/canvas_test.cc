// SPDX-License-Identifier: Apache-2.0
#include "simulate/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace segcal {
namespace {

// Part of the picture covered by region 1.
double Covered(const Scene& scene) {
  const auto n = std::count(scene.regions.begin(), scene.regions.end(), uint8_t{1});
  return static_cast<double>(n) / static_cast<double>(scene.NumVoxels());
}

class CanvasTest : public ::testing::Test {
 protected:
  Scene scene_{{400, 800}};
  Canvas canvas_{&scene_};
};

TEST_F(CanvasTest, RectangleCoversItsArea) {
  canvas_.Rectangle({0.25, 0.5}, {0.75, 0.7}, {1, 0.5f});
  EXPECT_NEAR(Covered(scene_), 0.5 * 0.2, 0.003);
  EXPECT_EQ(scene_.regions[240 * 800 + 400], 1);
  EXPECT_EQ(scene_.tint[240 * 800 + 400], 0.5f);
}

TEST_F(CanvasTest, EllipseCoversItsArea) {
  canvas_.Ellipse({0.5, 0.5}, {0.2, 0.3}, {1, 0.0f});
  EXPECT_NEAR(Covered(scene_), 3.14159265 * 0.2 * 0.3, 0.002);
}

TEST_F(CanvasTest, PolygonCoversItsArea) {
  canvas_.Polygon(std::vector<Position>{{0.1, 0.1}, {0.9, 0.1}, {0.5, 0.9}}, {1, 0.0f});
  EXPECT_NEAR(Covered(scene_), 0.5 * 0.8 * 0.8, 0.002);
}

// Thickness is in parts of the height in every direction: a rectangle with two half discs.
TEST_F(CanvasTest, StrokeIsEquallyThickInEveryDirection) {
  canvas_.Stroke({0.25, 0.5}, {0.75, 0.5}, 0.1, {1, 0.0f});
  const double caps = 3.14159265 * 0.05 * 0.05 / 2.0;
  EXPECT_NEAR(Covered(scene_), 0.5 * 0.1 + caps, 0.002);
  Scene upright({400, 800});
  Canvas(&upright).Stroke({0.5, 0.2}, {0.5, 0.8}, 0.1, {1, 0.0f});
  EXPECT_NEAR(Covered(upright), 0.6 * 0.1 / 2.0 + caps, 0.002);
}

TEST_F(CanvasTest, ShapesOutsideAreCutOff) {
  canvas_.Rectangle({-3.0, -2.0}, {0.5, 5.0}, {1, 0.0f});
  canvas_.Ellipse({9.0, -9.0}, {0.5, 0.5}, {1, 0.0f});
  EXPECT_NEAR(Covered(scene_), 0.5, 0.003);
}

TEST(Ellipsoid, DistanceIsOneOnItsSurface) {
  const Ellipsoid body{{0.5, 0.5, 0.5}, {0.25, 0.5, 0.05}};
  const std::vector<int64_t> shape = {10, 11, 11};
  // Voxel (7, 5, 5) has its centre at 0.75 of the first axis.
  EXPECT_NEAR(body.Distance(shape, (7 * 11 + 5) * 11 + 5), 1.0, 1e-12);
}

}  // namespace
}  // namespace segcal
