// SPDX-License-Identifier: Apache-2.0
#include "page/explored_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

TEST(MakeSampleGrid, TakesEveryPixelOfASmallImage) {
  const SampleGrid grid = MakeSampleGrid({180, 240});
  EXPECT_EQ(grid.step, 1);
  EXPECT_EQ(grid.count(), 180 * 240);
  EXPECT_EQ(grid.slices, (std::vector<int64_t>{0}));
  EXPECT_EQ(grid.PlaceOf(7 * 240 + 3), 7 * 240 + 3);
}

TEST(MakeSampleGrid, ThinsWhatIsLargeInAllThreeDirections) {
  const SampleGrid image = MakeSampleGrid({1024, 2048});
  EXPECT_EQ(image.step, 4);
  EXPECT_EQ(image.rows, 256);
  EXPECT_EQ(image.columns, 512);
  EXPECT_EQ(image.PlaceOf(4 * 2048 + 8), 512 + 2);
  EXPECT_EQ(image.PlaceOf(4 * 2048 + 9), -1);
  EXPECT_EQ(image.PlaceOf(5 * 2048 + 8), -1);

  const SampleGrid volume = MakeSampleGrid({155, 240, 240});
  EXPECT_EQ(volume.slices.size(), 24u);
  EXPECT_TRUE(std::is_sorted(volume.slices.begin(), volume.slices.end()));
  EXPECT_LE(volume.count(), int64_t{1} << 18);
  const int64_t slice = 240 * 240;
  EXPECT_EQ(volume.PlaceOf(volume.slices[2] * slice), 2 * volume.rows * volume.columns);
  EXPECT_EQ(volume.PlaceOf((volume.slices[2] + 1) * slice), -1);
}

// Oracle: the arrays Model::Apply gives for the same case.
TEST(ExploreCase, KeepsWhatApplyEmits) {
  const auto scene = testing::RandomScene(
      {.num_cases = 2, .num_members = 2, .num_classes = 5, .shape = {3, 23, 31}});
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(scene, folder.path());
  dataset.cases[1].spacing = {4.0, 3.0, 2.0};
  const std::vector<Model> models = {testing::TemperatureModel(dataset, 1.0, "z"),
                                     testing::TemperatureModel(dataset, 0.4, "p")};
  const ExploredCase explored = ExploreCase(dataset, 1, models, {});
  EXPECT_EQ(explored.id, "case1");
  EXPECT_EQ(explored.depth, 3);
  EXPECT_DOUBLE_EQ(explored.pixel_aspect, 1.5);
  const auto n = static_cast<size_t>(scene.num_voxels());
  ASSERT_EQ(explored.labels.size(), n);
  ASSERT_EQ(explored.leading.size(), 3u);
  EXPECT_EQ(explored.free_energy.size(), n);
  EXPECT_TRUE(explored.image.empty());
  std::vector<std::vector<float>> probs;
  for (const Model& model : models) probs.push_back(testing::ApplyInMemory(model, scene, 1));
  for (size_t v = 0; v < n; ++v) {
    const uint8_t label = scene.labels[1][v];
    ASSERT_EQ(explored.labels[v], label == 255 ? 0 : label + 1);
    for (size_t m = 0; m < models.size(); ++m) {
      const auto& maps = explored.pipelines[m];
      const auto at = [&](size_t c) { return static_cast<double>(probs[m][c * n + v]); };
      const double most = at(static_cast<size_t>(maps.predicted[v] - 1));
      for (size_t c = 0; c < 5; ++c) ASSERT_LE(at(c), most);
      ASSERT_EQ(maps.confidence[v], ProbabilityLevel(most));
      for (size_t k = 0; k < 3; ++k)
        ASSERT_EQ(maps.probabilities[k][v],
                  ProbabilityLevel(at(static_cast<size_t>(explored.leading[k][v] - 1))));
    }
    // No class that was left out is given more by any pipeline than one that was kept.
    const auto most_of = [&](size_t c) {
      return std::max(probs[0][c * n + v], probs[1][c * n + v]);
    };
    const float least = most_of(static_cast<size_t>(explored.leading[2][v] - 1));
    for (size_t c = 0; c < 5; ++c) {
      const bool kept = std::any_of(explored.leading.begin(),
                                    explored.leading.end(),
                                    [&](const auto& k) { return k[v] == c + 1; });
      ASSERT_TRUE(kept || most_of(c) <= least);
    }
  }
}

}  // namespace
}  // namespace segcal
