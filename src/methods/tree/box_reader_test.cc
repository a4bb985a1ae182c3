// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/box_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

// log S(z)_c, or z_c, of one voxel in double.
double ScoreOf(const Scene& scene, int64_t c, int64_t v, ScoreKind kind) {
  const int64_t n = scene.num_voxels();
  const auto z = [&](int64_t k) {
    return static_cast<double>(scene.logits[0][0][static_cast<size_t>(k * n + v)]);
  };
  if (kind == ScoreKind::kRaw) return z(c);
  double sum = 0.0;
  for (int64_t k = 0; k < scene.dataset.num_classes(); ++k) sum += std::exp(z(k) - z(c));
  return -std::log(sum);
}

// Every box, halo included, holds the scores of the voxel that its place reflects to.
void ExpectScoresAndLabels(const Scene& scene, ScoreKind kind, int64_t bytes) {
  const auto stream = scene.Stream(1);
  const auto reader = stream->Open(0);
  const PlaneGrid grid = MakePlaneGrid(scene.shape);
  BoxReader boxes({}, kind);
  for (const PlaneBox& box : CutIntoBoxes(grid, scene.dataset.num_classes(), bytes)) {
    boxes.Read(*reader, box);
    const PaddedPlane plane = boxes.scores().plane();
    for (int64_t y = -kTreeHalo; y < box.rows + kTreeHalo; ++y) {
      for (int64_t x = -kTreeHalo; x < box.columns + kTreeHalo; ++x) {
        const int64_t row = ReflectedIndex(box.y + y, grid.height) + box.plane * grid.height;
        const int64_t v = row * grid.width + ReflectedIndex(box.x + x, grid.width);
        for (int64_t c = 0; c < plane.channels; ++c) {
          const float found = plane.data[c * plane.channel_stride +
                                         (y + kTreeHalo) * plane.row_stride + x + kTreeHalo];
          ASSERT_NEAR(found, ScoreOf(scene, c, v, kind), 2e-5) << y << " " << x;
        }
        if (y < 0 || y >= box.rows || x < 0 || x >= box.columns) continue;
        const int32_t label = scene.labels[0][static_cast<size_t>(v)];
        ASSERT_EQ(boxes.labels()[static_cast<size_t>(y * box.columns + x)],
                  label == 255 ? kNoLabel : label);
      }
    }
  }
}

TEST(BoxReader, ReadsScoresLabelsAndReflections) {
  const std::vector<std::vector<int64_t>> shapes = {
      {70, 150}, {3, 5}, {4, 300}, {1, 1}, {333}, {3, 50, 9}, {2, 1, 7}, {5, 5, 5}};
  for (const auto& shape : shapes) {
    const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = shape});
    for (const ScoreKind kind : {ScoreKind::kCanonical, ScoreKind::kRaw}) {
      ExpectScoresAndLabels(scene, kind, /*bytes=*/1);
      ExpectScoresAndLabels(scene, kind, /*bytes=*/1 << 24);
    }
  }
}

TEST(BoxReader, KeepsImpossibleClassesAndHugeLogitsFinite) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {6, 10}});
  for (size_t v = 0; v < 60; ++v) {
    scene.logits[0][0][v] = v % 2 == 0 ? -INFINITY : 3e38f;
    scene.logits[0][0][60 + v] = v % 3 == 0 ? -INFINITY : -3e38f;
  }
  const auto stream = scene.Stream(1);
  const auto reader = stream->Open(0);
  for (const ScoreKind kind : {ScoreKind::kCanonical, ScoreKind::kRaw}) {
    BoxReader boxes({}, kind);
    boxes.Read(*reader, {.plane = 0, .y = 0, .x = 0, .rows = 6, .columns = 10});
    const PaddedPlane plane = boxes.scores().plane();
    for (int64_t i = 0; i < plane.channels * plane.channel_stride; ++i) {
      ASSERT_LE(std::fabs(plane.data[i]), kind == ScoreKind::kRaw ? kScoreLimit : 90.0);
    }
  }
}

}  // namespace
}  // namespace segcal
