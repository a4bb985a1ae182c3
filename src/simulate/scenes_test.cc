// SPDX-License-Identifier: Apache-2.0
#include "simulate/scenes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "segcal/error.h"

namespace segcal {
namespace {

std::vector<int64_t> SmallSize(const ScenePreset& preset) {
  if (preset.size.size() == 3) return {12, 24, 24};
  return {60, 80};
}

class EveryPreset : public ::testing::TestWithParam<const ScenePreset*> {};

TEST_P(EveryPreset, UsesOnlyTheClassesAskedFor) {
  const ScenePreset& preset = *GetParam();
  const auto own = static_cast<int64_t>(preset.regions.size());
  for (const int64_t classes : {int64_t{1}, int64_t{2}, own, own + 40, int64_t{255}}) {
    const Scene scene = MakeScene(preset, SmallSize(preset), classes, {3, 0});
    EXPECT_LT(*std::max_element(scene.regions.begin(), scene.regions.end()), classes);
    const std::vector<std::string> names = ClassNames(preset, classes);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
              static_cast<size_t>(classes));
  }
}

TEST_P(EveryPreset, ShowsEveryClassInSomeCase) {
  const ScenePreset& preset = *GetParam();
  std::set<uint8_t> seen;
  for (int64_t i = 0; i < 12; ++i) {
    const Scene scene = MakeScene(
        preset, preset.size, static_cast<int64_t>(preset.regions.size()), CaseStreams{1, i});
    seen.insert(scene.regions.begin(), scene.regions.end());
  }
  EXPECT_EQ(seen.size(), preset.regions.size());
}

TEST_P(EveryPreset, IsAFunctionOfSeedAndCase) {
  const ScenePreset& preset = *GetParam();
  const auto regions = [&](uint64_t seed, int64_t index) {
    return MakeScene(preset, SmallSize(preset), 2, CaseStreams{seed, index}).regions;
  };
  EXPECT_EQ(regions(1, 2), regions(1, 2));
  EXPECT_NE(regions(1, 2), regions(1, 3));
  EXPECT_NE(regions(1, 2), regions(2, 2));
}

// Far from other regions the class of the region leads by ClearGap, without the noise.
TEST_P(EveryPreset, ClearRegionsLeadByTheClearGap) {
  ScenePreset preset = *GetParam();
  preset.model.noise = 0.0;
  const Scene scene(SmallSize(preset));  // region 0 everywhere
  const std::vector<float> inside = ClassScores(preset, scene, 0, {1, 0});
  const std::vector<float> absent = ClassScores(preset, scene, 1, {1, 0});
  for (const size_t v : {size_t{0}, inside.size() / 2}) {
    EXPECT_NEAR(static_cast<double>(inside[v] - absent[v]), preset.model.ClearGap(), 0.01);
  }
}

TEST_P(EveryPreset, ParentsComeBeforeTheirChildren) {
  for (size_t i = 1; i < GetParam()->regions.size(); ++i) {
    EXPECT_LT(GetParam()->regions[i].parent, static_cast<int>(i)) << GetParam()->regions[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Presets,
                         EveryPreset,
                         ::testing::ValuesIn(ScenePresets()),
                         [](const auto& instance) { return std::string(instance.param->name); });

TEST(BrainPreset, IsNearlyAllBackground) {
  double background = 0.0;
  for (int64_t i = 0; i < 8; ++i) {
    const Scene scene = MakeScene(BrainPreset(), BrainPreset().size, 5, CaseStreams{1, i});
    background += static_cast<double>(std::count(scene.regions.begin(), scene.regions.end(), 0)) /
                  static_cast<double>(8 * scene.NumVoxels());
  }
  EXPECT_GT(background, 0.92);
  EXPECT_LT(background, 0.98);
}

TEST(StreetPreset, HasSkyAboveAndRoadBelow) {
  const Scene scene = MakeScene(StreetPreset(), {90, 120}, 12, {1, 0});
  const auto top_end = scene.regions.begin() + 120 * 10;
  EXPECT_GT(std::count(scene.regions.begin(), top_end, uint8_t{2}), 120 * 3);
  EXPECT_GT(std::count(scene.regions.end() - 120 * 10, scene.regions.end(), uint8_t{1}), 120 * 3);
}

// Mean colour of the sky is bluer than that of the road, which is grey.
TEST(MakePicture, ColoursRegionsAsTheyLook) {
  const Scene scene = MakeScene(StreetPreset(), {90, 120}, 12, {1, 0});
  const std::vector<uint8_t> picture = MakePicture(StreetPreset(), scene, {1, 0});
  ASSERT_EQ(picture.size(), size_t{90 * 120 * 3});
  double blueness[2] = {0.0, 0.0};
  int64_t count[2] = {0, 0};
  for (size_t v = 0; v < scene.regions.size(); ++v) {
    if (scene.regions[v] != 1 && scene.regions[v] != 2) continue;
    const size_t which = scene.regions[v] - 1u;
    blueness[which] +=
        static_cast<double>(picture[3 * v + 2]) - static_cast<double>(picture[3 * v]);
    ++count[which];
  }
  EXPECT_NEAR(blueness[0] / static_cast<double>(count[0]), 5.0, 8.0);
  EXPECT_NEAR(blueness[1] / static_cast<double>(count[1]), 76.0, 12.0);
}

TEST(FindPreset, UnknownNameListsTheKnownOnes) {
  try {
    FindPreset("moon");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "preset \"moon\" is unknown; known are street, brain, roads");
  }
}

}  // namespace
}  // namespace segcal
