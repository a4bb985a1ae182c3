// SPDX-License-Identifier: Apache-2.0
#include "pipeline/case_maps.h"

#include <gtest/gtest.h>

#include <cmath>

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
    for (size_t v = 0; v < n; ++v) {
      ASSERT_EQ(maps.models[m].confidence[v], probs[static_cast<size_t>(best[v]) * n + v]);
      ASSERT_EQ(maps.models[m].temperature[v], m == 0 ? 1.0f : static_cast<float>(1.0 / 0.3));
    }
  }
  for (size_t v = 0; v < n; ++v) {
    ASSERT_EQ(maps.labels[v], scene.labels[1][v] == 255 ? -1 : scene.labels[1][v]);
    double sum = 0.0;
    for (size_t c = 0; c < 3; ++c)
      sum += std::exp(static_cast<double>(scene.logits[1][0][c * n + v]));
    ASSERT_NEAR(static_cast<double>(maps.free_energy[v]),
                std::log(sum),
                2e-6 * (1.0 + std::fabs(std::log(sum))));
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

TEST(MapCase, GivesAnUnlabelledCaseNoLabels) {
  const auto scene = testing::RandomScene({.num_cases = 1, .num_classes = 3, .shape = {7, 9}});
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(scene, folder.path());
  dataset.cases[0].labels.clear();
  for (const int32_t label :
       MapCase(dataset, 0, {testing::TemperatureModel(dataset, 1.0)}, {}).labels) {
    EXPECT_EQ(label, -1);
  }
}

}  // namespace
}  // namespace segcal
