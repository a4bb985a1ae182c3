// SPDX-License-Identifier: Apache-2.0
#include "pipeline/survey.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

// Logits within 7: exact in float16.
Scene SmallHalfScene() {
  Scene scene =
      RandomScene({.num_cases = 3, .num_members = 2, .num_classes = 3, .shape = {93, 90}});
  for (auto& members : scene.logits) {
    for (auto& member : members) {
      for (float& z : member) z = std::fmin(std::fmax(z, -7.0f), 7.0f);
    }
  }
  return scene;
}

uint64_t HashOf(const Scene& scene, int threads = 2, const char* pooling = "z") {
  return SurveyData(*scene.Stream(threads), ParsePooling(pooling), 1.0).hash;
}

TEST(DataHash, DoesNotDependOnThreads) {
  const Scene scene = SmallHalfScene();
  EXPECT_EQ(HashOf(scene, 1), HashOf(scene, 2));
  EXPECT_EQ(HashOf(scene, 1), HashOf(scene, 3));
}

TEST(DataHash, DoesNotDependOnTheTypeOrLayoutOfFiles) {
  const Scene scene = SmallHalfScene();
  const testing::TempFolder folder;
  for (const char* pooling : {"z", "p"}) {
    for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
      for (const bool last : {false, true}) {
        const Dataset dataset =
            testing::WriteScene(scene, folder.path(), {.dtype = dtype, .channels_last = last});
        const CaseStream stream(dataset, {ParsePooling(pooling)}, StreamOptions{});
        EXPECT_EQ(SurveyData(stream, ParsePooling(pooling), 1.0).hash, HashOf(scene, 1, pooling))
            << pooling << " " << Name(dtype) << last;
      }
    }
  }
}

TEST(DataHash, ChangesWithAnythingAFitSees) {
  const Scene scene = SmallHalfScene();
  const uint64_t before = HashOf(scene);
  const auto changed = [&](const std::function<void(Scene*)>& change) {
    Scene other = scene;
    change(&other);
    return HashOf(other);
  };
  EXPECT_NE(changed([](Scene* s) { s->logits[2][1][777] += 0.5f; }), before) << "one value";
  EXPECT_NE(changed([](Scene* s) { s->labels[1][8000] = s->labels[1][8000] == 1 ? 2 : 1; }), before)
      << "one label";
  EXPECT_NE(changed([](Scene* s) { s->labels[0][0] = s->labels[0][0] == 255 ? 0 : 255; }), before)
      << "an ignored voxel";
  EXPECT_NE(changed([](Scene* s) {
              std::swap(s->logits[0], s->logits[1]);
              std::swap(s->labels[0], s->labels[1]);
            }),
            before)
      << "the order of cases";
  EXPECT_NE(changed([](Scene* s) {
              s->logits[0].resize(1), s->logits[1].resize(1), s->logits[2].resize(1);
            }),
            before)
      << "the members";
}

// A shift of all classes of one voxel changes no probability, but the data.
TEST(DataHash, ChangesWithAnOffset) {
  Scene scene = SmallHalfScene();
  const uint64_t before = HashOf(scene);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t c = 0; c < 3; ++c) scene.logits[0][0][c * n + 11] += 2.0f;
  EXPECT_NE(HashOf(scene), before);
}

// A case is known again wherever it stands, and the data set is not.
TEST(CaseHash, DoesNotDependOnTheOtherCases) {
  const Scene scene = SmallHalfScene();
  const Survey all = SurveyData(*scene.Stream(2), Pooling{}, 1.0);
  ASSERT_EQ(all.cases.size(), 3u);
  EXPECT_NE(all.cases[0].hash, all.cases[1].hash);
  const Survey turned = SurveyData(*scene.Stream(2)->Subset({2, 0}), Pooling{}, 1.0);
  EXPECT_EQ(turned.cases[0].hash, all.cases[2].hash);
  EXPECT_EQ(turned.cases[1].hash, all.cases[0].hash);
  const Survey other = SurveyData(*scene.Stream(2)->Subset({0, 2}), Pooling{}, 1.0);
  EXPECT_NE(other.hash, turned.hash);
  const std::vector<CaseFacts> alone = HashCases(*scene.Stream(3), Pooling{});
  for (size_t c = 0; c < 3; ++c) EXPECT_EQ(alone[c].hash, all.cases[c].hash);
}

TEST(SurveyData, CountsVoxelsAndLabels) {
  Scene scene = RandomScene({.num_cases = 2, .num_classes = 3, .shape = {50, 50}, .ignored = 0.3});
  scene.masks.assign(2, std::vector<uint8_t>(2500, 1));
  for (size_t v = 0; v < 1000; ++v) scene.masks[1][v] = 0;
  std::vector<int64_t> expected(3);
  for (size_t i = 0; i < 2; ++i) {
    for (size_t v = 0; v < 2500; ++v) {
      if (scene.labels[i][v] != 255 && scene.masks[i][v] != 0)
        ++expected[static_cast<size_t>(scene.labels[i][v])];
    }
  }
  const Survey survey = SurveyData(*scene.Stream(2), {}, 0.8);
  EXPECT_EQ(survey.voxels, 5000);
  EXPECT_EQ(survey.label_counts, expected);
  EXPECT_EQ(survey.labelled, expected[0] + expected[1] + expected[2]);
  EXPECT_EQ(survey.at_one.count, survey.labelled);
  EXPECT_EQ(survey.repeated, 0);
  EXPECT_EQ(survey.renormalised, 0);
}

TEST(SurveyData, EvaluatesTheObjectiveAtOneAndAtTheSamplesTemperature) {
  const Scene scene = RandomScene({.num_classes = 4});
  const Survey survey = SurveyData(*scene.Stream(2), {}, 0.7);
  EXPECT_EQ(survey.at_one.loss, SurveyData(*scene.Stream(1), {}, 1.0).at_one.loss);
  EXPECT_EQ(survey.at_sample_beta.loss, SurveyData(*scene.Stream(3), {}, 0.7).at_sample_beta.loss);
  EXPECT_LT(survey.at_sample_beta.loss, survey.at_one.loss);  // labels were drawn at 0.5
}

TEST(SurveyData, FindsFilledRegions) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {100, 100}});
  for (size_t c = 0; c < 3; ++c) {
    for (size_t v = 0; v < 4000; ++v) scene.logits[0][0][c * 10000 + v] = c == 0 ? 1.0f : 0.0f;
  }
  EXPECT_EQ(SurveyData(*scene.Stream(2), {}, 1.0).repeated, 4000);
}

TEST(TemperatureOfSample, ComesNearTheTemperatureOfTheLabels) {
  const Scene scene = RandomScene({.num_cases = 2, .shape = {200, 200}, .true_beta = 0.4});
  const TileSample sample = SampleTiles(*scene.Stream(2), {}, 1 << 16, 0);
  EXPECT_NEAR(TemperatureOfSample(sample, 2), 0.4, 0.02);
  EXPECT_EQ(TemperatureOfSample(sample, 1), TemperatureOfSample(sample, 3));
}

TEST(TemperatureOfSample, IsOneWhereTheSampleCannotTell) {
  Scene scene = RandomScene({.num_cases = 1});
  const auto of_labels = [&](const std::function<int32_t(size_t)>& label) {
    for (size_t v = 0; v < scene.labels[0].size(); ++v) scene.labels[0][v] = label(v);
    return TemperatureOfSample(SampleTiles(*scene.Stream(1), {}, 1 << 16, 0), 1);
  };
  const std::vector<int32_t> best = testing::Argmax(scene.logits[0][0], 5);
  EXPECT_EQ(of_labels([](size_t) { return 255; }), 1.0) << "no labels";
  EXPECT_EQ(of_labels([&](size_t v) { return best[v]; }), 1.0) << "no errors";
}

}  // namespace
}  // namespace segcal
