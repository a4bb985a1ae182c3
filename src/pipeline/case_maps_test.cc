// SPDX-License-Identifier: Apache-2.0
#include "pipeline/case_maps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "spatial/local_error.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

// Oracle: the arrays Model::Apply gives for the same case.
TEST(MapCase, HoldsWhatTheModelsSayAboutEveryVoxel) {
  const auto scene = testing::RandomScene(
      {.num_cases = 2, .num_members = 2, .num_classes = 3, .shape = {101, 97}});
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(scene, folder.path());
  dataset.cases[1].spacing = {0.5, 2.0};
  const std::vector<Model> models = {testing::TemperatureModel(dataset, 1.0, "z0"),
                                     testing::TemperatureModel(dataset, 0.3, "p")};
  const CaseMaps maps = MapCase(dataset, 1, models, {});
  EXPECT_EQ(maps.id, "case1");
  EXPECT_EQ(maps.shape, (std::vector<int64_t>{101, 97}));
  EXPECT_EQ(maps.spacing, (std::vector<double>{0.5, 2.0}));
  const auto n = static_cast<size_t>(scene.num_voxels());
  ASSERT_EQ(maps.models.size(), 2u);
  for (size_t m = 0; m < 2; ++m) {
    const std::vector<float> probs = testing::ApplyInMemory(models[m], scene, 1);
    const std::vector<int32_t> best = testing::Argmax(probs, 3);
    EXPECT_EQ(maps.models[m].predicted, best) << m;
    EXPECT_EQ(maps.models[m].decision, best) << m;  // temperatures keep it
    for (size_t v = 0; v < n; ++v) {
      ASSERT_EQ(maps.models[m].confidence[v], probs[static_cast<size_t>(best[v]) * n + v]);
      ASSERT_EQ(maps.models[m].temperature[v], m == 0 ? 1.0f : static_cast<float>(1.0 / 0.3));
    }
  }
  for (size_t v = 0; v < n; ++v) {
    ASSERT_EQ(maps.labels[v], scene.labels[1][v] == 255 ? -1 : scene.labels[1][v]);
    double sum = 0.0;
    for (size_t c = 0; c < 3; ++c) {
      const auto z0 = static_cast<double>(scene.logits[1][0][c * n + v]);
      const auto z1 = static_cast<double>(scene.logits[1][1][c * n + v]);
      sum += std::exp(0.5 * (z0 + z1));
    }
    ASSERT_NEAR(static_cast<double>(maps.free_energy[v]),
                std::log(sum),
                2e-6 * (1.0 + std::fabs(std::log(sum))));
  }
}

TEST(MapCase, DrawsEveryMethod) {
  const auto scene = testing::RandomScene({.num_cases = 2, .num_classes = 3, .shape = {30, 41}});
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  for (const CalibratorInfo* info : Calibrators()) {
    if (MakeCalibrator({info->name}, {})->needs().image) continue;
    const Model model = testing::FitAs(fmt::format("{}(z)", info->name), scene);
    const CaseMaps maps = MapCase(dataset, 1, {model}, {});
    const std::vector<float> probs = testing::ApplyInMemory(model, scene, 1);
    EXPECT_EQ(maps.models[0].predicted, testing::Argmax(probs, 3)) << info->name;
  }
}

TEST(MapCase, HasNoFreeEnergyWhereMasked) {
  auto scene = testing::RandomScene({.num_cases = 1, .num_classes = 3, .shape = {20, 30}});
  scene.masks = {std::vector<uint8_t>(600, 1)};
  scene.masks[0][17] = 0;
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  const CaseMaps maps = MapCase(dataset, 0, {testing::TemperatureModel(dataset, 1.0)}, {});
  for (size_t v = 0; v < 600; ++v) EXPECT_EQ(std::isnan(maps.free_energy[v]), v == 17) << v;
}

// A volume whose slice z has `foreground[z]` voxels of class 1, the others background or ignored.
CaseMaps MapVolume(const std::vector<int>& foreground, int32_t others) {
  auto scene = testing::RandomScene(
      {.num_cases = 1, .num_classes = 2, .shape = {static_cast<int64_t>(foreground.size()), 3, 4}});
  scene.dataset.background = 0;
  scene.labels[0].assign(12 * foreground.size(), others);
  for (size_t z = 0; z < foreground.size(); ++z) {
    for (size_t v = 0; v < static_cast<size_t>(foreground[z]); ++v) scene.labels[0][12 * z + v] = 1;
  }
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  return MapCase(dataset, 0, {testing::TemperatureModel(dataset, 1.0)}, {});
}

TEST(MapCase, TakesTheSliceWithTheMostForeground) {
  const CaseMaps maps = MapVolume({1, 0, 3, 5, 2}, 0);
  EXPECT_EQ(maps.depth, 5);
  EXPECT_EQ(maps.slice, 3);
  EXPECT_EQ(maps.width * maps.height, 12);
  EXPECT_EQ(std::count(maps.labels.begin(), maps.labels.end(), 1), 5);
  EXPECT_EQ(MapVolume({2, 2, 2, 2, 2}, 255).slice, 2);  // among equals the middle
  EXPECT_EQ(MapVolume({0, 0, 0}, 255).slice, 1);
}

// Deeper than a window reaches: what is kept around the slice is enough. The oracle is the map of
// the whole volume.
TEST(MapCase, LocalErrorsAreThoseOfTheWholeVolume) {
  auto scene = testing::RandomScene({.num_cases = 1, .num_classes = 3, .shape = {40, 11, 9}});
  for (size_t v = 0; v < 99; ++v) scene.labels[0][30 * 99 + v] = 1;  // ignored nowhere
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  const Model model = testing::TemperatureModel(dataset, 0.7);
  const CaseMaps maps = MapCase(dataset, 0, {model}, {});
  ASSERT_EQ(maps.slice, 30);
  ASSERT_EQ(maps.radius, 2);
  const std::vector<float> probs = testing::ApplyInMemory(model, scene, 0);
  const std::vector<int32_t> best = testing::Argmax(probs, 3);
  const size_t n = best.size();
  std::vector<float> confidence(n);
  std::vector<int32_t> labels(n);
  for (size_t v = 0; v < n; ++v) {
    confidence[v] = probs[static_cast<size_t>(best[v]) * n + v];
    labels[v] = scene.labels[0][v] == 255 ? kNoLabel : scene.labels[0][v];
  }
  std::vector<float> upper;
  for (int k = 1; k <= kMapBins; ++k) upper.push_back(static_cast<float>(k / 10.0));
  const std::vector<uint16_t> predicted(best.begin(), best.end());
  const std::vector<float> whole = LocalCalibrationError(MakeGrid(std::vector<int64_t>{40, 11, 9}),
                                                         confidence,
                                                         predicted,
                                                         labels,
                                                         {.upper = upper, .closed_above = true},
                                                         maps.radius,
                                                         1);
  for (size_t v = 0; v < 99; ++v) ASSERT_EQ(maps.models[0].local_error[v], whole[30 * 99 + v]) << v;
}

TEST(MapCase, GivesAnUnlabelledCaseNoLabels) {
  const auto scene = testing::RandomScene({.num_cases = 1, .num_classes = 3, .shape = {7, 9}});
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(scene, folder.path());
  dataset.cases[0].labels = {};
  for (const int32_t label :
       MapCase(dataset, 0, {testing::TemperatureModel(dataset, 1.0)}, {}).labels) {
    EXPECT_EQ(label, -1);
  }
}

}  // namespace
}  // namespace segcal
