// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

constexpr int64_t kPlenty = int64_t{1} << 30;

std::vector<std::vector<TreePatch>> CountPatches(const Scene& scene,
                                                 int64_t bytes = kPlenty,
                                                 int threads = 2) {
  return GatherPatches(*scene.Stream(threads), {}, {.max_bytes = bytes, .seed = 3});
}

int64_t VoxelsOf(const std::vector<std::vector<TreePatch>>& cases) {
  int64_t voxels = 0;
  for (const auto& patches : cases) {
    for (const TreePatch& patch : patches) voxels += patch.voxels();
  }
  return voxels;
}

TEST(GatherPatches, TakesEveryVoxelOnceWhereThereIsRoom) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 2, .shape = {2, 100, 130}});
  const auto cases = CountPatches(scene);
  EXPECT_EQ(VoxelsOf(cases), 3 * scene.num_voxels());
  int64_t labelled = 0;
  for (const TreePatch& patch : cases[1]) labelled += patch.labelled();
  EXPECT_EQ(labelled,
            scene.num_voxels() - std::count(scene.labels[1].begin(), scene.labels[1].end(), 255));
}

TEST(GatherPatches, TakesTheSameShareOfEveryCaseWhereThereIsNone) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 2, .shape = {480, 640}});
  const int64_t bytes = 30 * TreePatch::Bytes(2);
  const auto cases = CountPatches(scene, bytes);
  for (const auto& patches : cases) EXPECT_EQ(patches.size(), 10u);
  const auto again = CountPatches(scene, bytes, 1);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(
        std::equal(cases[2][i].Labels(0), cases[2][i].Labels(kPatchRows), again[2][i].Labels(0)));
  }
}

int64_t CountOf(const std::vector<std::vector<TreePatch>>& cases) {
  int64_t count = 0;
  for (const auto& patches : cases) count += static_cast<int64_t>(patches.size());
  return count;
}

// With less room than cases some give nothing; which ones, the seed says.
TEST(GatherPatches, TakesNoMoreThanThereIsRoomFor) {
  const Scene scene = RandomScene({.num_cases = 7, .num_classes = 2, .shape = {90, 130}});
  for (const int64_t room : {1, 3, 6, 7, 8, 20}) {
    const auto cases = CountPatches(scene, room * TreePatch::Bytes(2));
    EXPECT_LE(CountOf(cases), room);
    int64_t drawn = 0;
    for (const auto& patches : cases) drawn += patches.empty() ? 0 : 1;
    EXPECT_EQ(drawn, std::min<int64_t>(room, 7)) << room;
    const auto again = CountPatches(scene, room * TreePatch::Bytes(2), 1);
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(again[i].size(), cases[i].size());
  }
  EXPECT_EQ(CountOf(CountPatches(scene, /*bytes=*/1)), 1);
}

TEST(GatherPatches, CountsOnlyTheRegionAllWhereAsked) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 2, .shape = {40, 60}, .ignored = 0.0});
  scene.dataset.background = 0;
  // Class 1 in the columns from 30 on: the boundary runs between 29 and 30.
  for (size_t v = 0; v < 2400; ++v) scene.labels[0][v] = v % 60 >= 30 ? 1 : 0;
  const auto cases =
      GatherPatches(*scene.Stream(1), {}, {.max_bytes = kPlenty, .seed = 0, .all_region = true});
  // 29 is on the boundary, 28 and 27 within two voxels of it.
  EXPECT_EQ(cases[0][0].labelled(), 40 * 33);
}

class EveryKind : public ::testing::TestWithParam<bool> {
 protected:
  TreeTraining Training(const TreeData& data,
                        int threads = 2,
                        int64_t voxels = kPlenty,
                        int64_t batch = 2) const {
    return TreeTraining(data,
                        {.shape = {.classes = 3},
                         .whole_case = GetParam(),
                         .voxels = voxels,
                         .batch = batch,
                         .seed = 5,
                         .threads = threads});
  }
};

std::vector<double> RandomParameters(int64_t count) {
  Rng rng(/*seed=*/2, /*stream=*/0);
  std::vector<double> parameters(static_cast<size_t>(count));
  for (double& p : parameters) p = 0.3 * rng.Normal();
  return parameters;
}

// Property: the gradient of a minibatch is the derivative of its loss.
TEST_P(EveryKind, StepsHaveTheDerivativeOfTheirLoss) {
  const TreeData data{.training = CountPatches(RandomScene({.num_classes = 3, .shape = {50, 90}})),
                      .validation = {}};
  TreeTraining training = Training(data);
  const std::vector<double> at = RandomParameters(training.num_parameters());
  std::vector<double> gradient(at.size(), 0.0);
  training.Step(1, 0, at, gradient);
  for (size_t p = 0; p < at.size(); p += 17) {
    // Losses are float32 at each voxel: steps must be long.
    const double step = 0.05;
    std::vector<double> ignored(at.size());
    std::vector<double> moved = at;
    moved[p] += step;
    const double above = training.Step(1, 0, moved, ignored);
    moved[p] -= 2.0 * step;
    const double below = training.Step(1, 0, moved, ignored);
    EXPECT_NEAR(gradient[p], (above - below) / (2.0 * step), 2e-4 * std::fabs(gradient[p]) + 3e-6)
        << p;
  }
}

TEST_P(EveryKind, DoesNotDependOnThreads) {
  const TreeData data{.training = CountPatches(RandomScene({.num_cases = 3, .num_classes = 3})),
                      .validation = CountPatches(RandomScene({.seed = 8, .num_classes = 3}))};
  TreeTraining one = Training(data, 1);
  TreeTraining three = Training(data, 3);
  const std::vector<double> at = RandomParameters(one.num_parameters());
  std::vector<double> a(at.size(), 0.0);
  std::vector<double> b(at.size(), 0.0);
  EXPECT_EQ(one.Step(4, 1, at, a), three.Step(4, 1, at, b));
  EXPECT_TRUE(a == b);
  EXPECT_EQ(one.Validate(at), three.Validate(at));
}

TEST_P(EveryKind, StepsAreAFunctionOfEpochAndStep) {
  const TreeData data{.training = CountPatches(RandomScene({.num_cases = 6, .num_classes = 3})),
                      .validation = {}};
  TreeTraining training = Training(data);
  const std::vector<double> at = RandomParameters(training.num_parameters());
  std::vector<double> gradient(at.size(), 0.0);
  const double first = training.Step(0, 1, at, gradient);
  const double other = training.Step(7, 1, at, gradient);
  EXPECT_EQ(training.Step(0, 1, at, gradient), first);
  EXPECT_NE(first, other);
}

// With one unit to a step its loss tells which unit it was.
TEST_P(EveryKind, AnEpochVisitsEveryUnitOnce) {
  const TreeData data{
      .training = CountPatches(RandomScene({.num_cases = 6, .num_classes = 3, .shape = {48, 128}})),
      .validation = {}};
  TreeTraining training = Training(data, 2, kPlenty, /*batch=*/1);
  const std::vector<double> at = RandomParameters(training.num_parameters());
  ASSERT_EQ(training.steps_per_epoch(), GetParam() ? 6 : 12);
  const auto losses_of = [&](int64_t epoch) {
    std::vector<double> losses;
    for (int64_t step = 0; step < training.steps_per_epoch(); ++step) {
      std::vector<double> gradient(at.size(), 0.0);
      losses.push_back(training.Step(epoch, step, at, gradient));
    }
    return losses;
  };
  std::vector<double> first = losses_of(0);
  std::vector<double> second = losses_of(1);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

TEST_P(EveryKind, AnEpochHasAboutTheVoxelsAskedFor) {
  const TreeData data{
      .training = CountPatches(RandomScene({.num_cases = 8, .num_classes = 3, .shape = {48, 64}})),
      .validation = {}};
  EXPECT_EQ(Training(data).epoch_voxels(), 8 * 48 * 64);
  EXPECT_EQ(Training(data, 2, 3 * 48 * 64).epoch_voxels(), 3 * 48 * 64);
  EXPECT_EQ(Training(data, 2, 1).epoch_voxels(), 48 * 64);
}

// Four patches to a case: one has labels everywhere, one in its first patch, one nowhere.
TEST_P(EveryKind, AnEpochCountsOnlyVoxelsThatAreTrainedOn) {
  constexpr int64_t kPatch = 48 * 64;
  Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {48, 256}, .ignored = 0.0});
  for (size_t v = 0; v < 48 * 256; ++v) {
    if (v % 256 >= 64) scene.labels[1][v] = 255;
    scene.labels[2][v] = 255;
  }
  const TreeData data{.training = CountPatches(scene), .validation = {}};
  EXPECT_EQ(Training(data).voxels(), 12 * kPatch);
  EXPECT_EQ(Training(data).epoch_voxels(), (GetParam() ? 8 : 5) * kPatch);
  EXPECT_EQ(Training(data, 2, 4 * kPatch).epoch_voxels(), 4 * kPatch);
  EXPECT_EQ(Training(data, 2, 4 * kPatch).steps_per_epoch(), GetParam() ? 1 : 2);
}

// Closed form: without weights the temperature is 1 everywhere.
TEST_P(EveryKind, WithoutWeightsHasTheLossOfTheInput) {
  const Scene scene = RandomScene({.num_classes = 3});
  const TreeData data{.training = CountPatches(scene), .validation = {}};
  TreeTraining training = Training(data);
  const std::vector<double> zero(static_cast<size_t>(training.num_parameters()), 0.0);
  EXPECT_NEAR(training.Validate(zero), training.IdentityLoss(), 1e-6);
  double loss = 0.0;
  double count = 0.0;
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t v = 0; v < n; ++v) {
      const int32_t label = scene.labels[i][v];
      if (label == 255) continue;
      const float* z = scene.logits[i][0].data() + v;
      double sum = 0.0;
      for (size_t c = 0; c < 3; ++c) sum += std::exp(static_cast<double>(z[c * n]));
      loss += std::log(sum) - static_cast<double>(z[static_cast<size_t>(label) * n]);
      count += 1.0;
    }
  }
  EXPECT_NEAR(training.IdentityLoss(), loss / count, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(TreeTraining, EveryKind, ::testing::Bool(), [](const auto& test) {
  return test.param ? "WholeCase" : "Local";
});

}  // namespace
}  // namespace segcal
