// SPDX-License-Identifier: Apache-2.0
#include "segcal/verify.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "tests/support/errors.h"
#include "tests/support/lying_calibrator.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"
#include "verify/verify_inputs.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::LyingModel;
using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;

const std::vector<std::string> kFour = {"a", "b", "c", "d"};

VerifyOptions Quick(int threads = 2) {
  VerifyOptions options;
  options.voxels = 30000;
  options.run.threads = threads;
  return options;
}

const VerifyCheck& Find(const VerifyResult& result,
                        const std::string& name,
                        const std::string& output = "float32",
                        const std::string& input = "generated") {
  for (const VerifyCheck& check : result.checks) {
    if (check.name == name && check.output == output && check.input == input) return check;
  }
  ADD_FAILURE() << "no check " << name << ", " << output << ", " << input;
  return result.checks.front();
}

// Names of the declared checks that do not hold, in float32 on generated inputs.
std::vector<std::string> Broken(const VerifyResult& result) {
  std::vector<std::string> names;
  for (const VerifyCheck& check : result.checks) {
    if (!check.holds() && check.output == "float32") names.push_back(check.name);
  }
  return names;
}

TEST(Verify, HoldsForSoftmaxWithEveryInputAndPooling) {
  for (const InputKind input : {InputKind::kLogits, InputKind::kLogProbs, InputKind::kProbs}) {
    for (const char* pooling : {"z", "p", "z2"}) {
      const VerifyResult result = Verify(LyingModel("none", kFour, input, pooling), Quick());
      EXPECT_TRUE(result.holds()) << Name(input) << " " << pooling << "\n" << ToJson(result);
      EXPECT_EQ(Find(result, "rows").voxels, 4 * 8192);
      EXPECT_EQ(Find(result, "order", "float16").voxels, 4 * 8192);
      EXPECT_GT(Find(result, "rows").worst, 0.0);
      const VerifyCheck& translation = Find(result, "translation");
      EXPECT_EQ(translation.voxels, input == InputKind::kLogits ? 4 * 8192 : 0) << Name(input);
      EXPECT_EQ(translation.note.empty(), input == InputKind::kLogits);
    }
  }
}

TEST(Verify, HoldsForOneClassAndForMany) {
  for (const size_t num_classes : {size_t{1}, size_t{2}, size_t{40}}) {
    std::vector<std::string> classes;
    for (size_t c = 0; c < num_classes; ++c) classes.push_back("c" + std::to_string(c));
    EXPECT_TRUE(Verify(LyingModel("none", classes), Quick()).holds()) << num_classes;
  }
}

// The ends of temperature scaling: all equal (beta 0) and all or nothing.
TEST(Verify, HoldsForTemperaturesAtTheirBounds) {
  Dataset dataset;
  dataset.classes = kFour;
  dataset.input = InputKind::kLogits;
  for (const double beta : {0.0, 1e-10, 1.0, 1e6}) {
    const VerifyResult result = Verify(testing::TemperatureModel(dataset, beta), Quick());
    EXPECT_TRUE(result.holds()) << beta << ToJson(result);
    ASSERT_EQ(result.claims.size(), 1u);
    EXPECT_EQ(result.claims[0].found, beta);
  }
}

TEST(Verify, FindsEveryLie) {
  using Names = std::vector<std::string>;
  // The winner rule repairs the decision of whoever declares to keep it; what it adds shows in the
  // sums.
  EXPECT_EQ(Broken(Verify(LyingModel("decision", kFour), Quick())), (Names{"rows", "order"}));
  EXPECT_EQ(Broken(Verify(LyingModel("order", kFour), Quick())), Names{"order"});
  EXPECT_EQ(Broken(Verify(LyingModel("offset", kFour), Quick())), Names{"translation"});
  EXPECT_EQ(Broken(Verify(LyingModel("rows", kFour), Quick())), Names{"rows"});
  EXPECT_EQ(Broken(Verify(LyingModel("nan", kFour), Quick())), Names{"rows"});
  const VerifyResult parameters = Verify(LyingModel("parameters", kFour), Quick());
  EXPECT_EQ(Broken(parameters), Names{});
  EXPECT_FALSE(parameters.holds());
  EXPECT_FALSE(parameters.claims.at(0).holds);
}

TEST(Verify, ReportsWhatIsNotDeclaredWithoutBlame) {
  const VerifyResult result = Verify(LyingModel("honest", kFour), Quick());
  EXPECT_TRUE(result.holds());
  for (const char* name : {"order", "translation"}) {
    EXPECT_FALSE(Find(result, name).declared);
    EXPECT_GT(Find(result, name).violations, 1000) << name;
    EXPECT_FALSE(Find(result, name).examples.empty());
  }
}

// Whoever has seed and voxel can make the input again.
TEST(Verify, GivesCounterExamplesThatCanBeMadeAgain) {
  VerifyOptions options = Quick();
  options.seed = 11;
  options.max_examples = 5;
  const VerifyResult result = Verify(LyingModel("order", kFour, InputKind::kLogits, "z0"), options);
  const VerifyCheck& check = Find(result, "order");
  ASSERT_EQ(check.examples.size(), 5u);
  const InputGenerator generator(
      {.classes = kFour, .input = InputKind::kLogits, .pooling = ParsePooling("z0")}, 11);
  for (const CounterExample& example : check.examples) {
    EXPECT_TRUE(example.position.empty());
    const GeneratedCase made = generator.Mixed(example.voxel / kBlockVoxels);
    const auto v = static_cast<size_t>(example.voxel % kBlockVoxels);
    EXPECT_EQ(example.source, Name(made.kinds[v]));
    if (made.kinds[v] == RowKind::kExtremes) continue;  // cut at the floor
    for (size_t c = 0; c < 4; ++c) {
      const auto z = static_cast<double>(made.members[0][c * kBlockVoxels + v]);
      EXPECT_NEAR(example.input[c], z, 1e-5 * (1.0 + std::fabs(z)));
    }
  }
}

// One voxel of one case has losers that differ; everywhere else exchanging them changes nothing.
TEST(Verify, NamesCaseAndPositionOfACounterExample) {
  Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {60, 70}});
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (auto& members : scene.logits) {
    for (size_t v = 0; v < n; ++v) {
      for (size_t c = 0; c < 3; ++c) members[0][c * n + v] = c == v % 3 ? 2.0f : -1.0f;
    }
  }
  const size_t odd = 31 * 70 + 17;
  scene.logits[1][0][((odd + 1) % 3) * n + odd] = 0.0f;
  const TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  VerifyOptions options = Quick();
  options.voxels = 0;
  const VerifyResult result = Verify(LyingModel("order", dataset.classes), dataset, options);
  EXPECT_FALSE(result.holds());
  EXPECT_EQ(result.checks.size(), 6u);
  for (const char* output : {"float32", "float16"}) {
    const VerifyCheck& check = Find(result, "order", output, "dataset");
    EXPECT_EQ(check.voxels, 3 * 60 * 70);
    EXPECT_EQ(check.violations, 1);
    ASSERT_EQ(check.examples.size(), 1u);
    EXPECT_EQ(check.examples[0].source, "case1");
    EXPECT_EQ(check.examples[0].position, (std::vector<int64_t>{31, 17}));
    EXPECT_EQ(check.examples[0].voxel, static_cast<int64_t>(odd));
    EXPECT_EQ(check.examples[0].input[odd % 3], 2.0);
  }
  // A mask takes the voxel out: `apply` does not calibrate there.
  scene.masks.assign(3, std::vector<uint8_t>(n, 1));
  scene.masks[1][odd] = 0;
  const TempFolder masked;
  const Dataset without = testing::WriteScene(scene, masked.path());
  const VerifyResult clean = Verify(LyingModel("order", dataset.classes), without, options);
  EXPECT_TRUE(clean.holds());
  EXPECT_EQ(Find(clean, "order", "float32", "dataset").voxels, 3 * 60 * 70 - 1);
}

TEST(Verify, LooksAtOneSplitOnly) {
  Scene scene = RandomScene({.num_cases = 2, .num_classes = 3, .shape = {20, 30}});
  scene.dataset.cases[0].split = "calibration";
  scene.dataset.cases[1].split = "test";
  const TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  VerifyOptions options = Quick();
  options.split = "test";
  const VerifyResult result = Verify(LyingModel("order", dataset.classes), dataset, options);
  const VerifyCheck& check = Find(result, "order", "float32", "dataset");
  EXPECT_EQ(check.voxels, 600);
  ASSERT_FALSE(check.examples.empty());
  EXPECT_EQ(check.examples[0].source, "case1");
}

TEST(Verify, DoesNotDependOnThreads) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 4, .shape = {97, 103}});
  const TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  const Model model = LyingModel("honest", dataset.classes);
  const std::string one = ToJson(Verify(model, dataset, Quick(1)));
  for (const int threads : {2, 3}) EXPECT_EQ(ToJson(Verify(model, dataset, Quick(threads))), one);
}

TEST(Verify, RefusesWhatItCannotLookAt) {
  ExpectError(ErrorCode::kInvalidArgument, {"lie=image", "image", "give a data set"}, [] {
    Verify(LyingModel("image", kFour), Quick());
  });
  VerifyOptions none = Quick();
  none.voxels = 0;
  ExpectError(ErrorCode::kInvalidArgument, {"give a data set"}, [&] {
    Verify(LyingModel("none", kFour), none);
  });
  none.voxels = -1;
  ExpectError(ErrorCode::kInvalidArgument, {"-1 voxels", "0 to 2^40"}, [&] {
    Verify(LyingModel("none", kFour), none);
  });
  const Scene scene = RandomScene({.num_classes = 3, .shape = {20, 30}});
  const TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  ExpectError(ErrorCode::kBadData, {"classes"}, [&] {
    Verify(LyingModel("none", kFour), dataset, Quick());
  });
}

TEST(Verify, CountsItsProgress) {
  VerifyOptions options = Quick();
  std::vector<std::string> stages;
  int64_t done = 0;
  options.run.progress = ListenOnly([&](const Progress& progress) {
    if (progress.stage.empty()) return;
    if (stages.empty() || stages.back() != progress.stage) stages.push_back(progress.stage);
    done = progress.done;
    EXPECT_EQ(progress.total, 4 * 8192);
  });
  Verify(LyingModel("none", kFour), options);
  EXPECT_EQ(stages, (std::vector<std::string>{"verify emitted rows", "verify offsets"}));
  EXPECT_EQ(done, 4 * 8192);
}

TEST(Verify, WritesEveryNumberAsJson) {
  const VerifyResult result = Verify(LyingModel("order", kFour), Quick());
  const Json json = ParseJson(ToJson(result), "verify");
  EXPECT_EQ(json.at("segcal_verify"), 1);
  EXPECT_EQ(json.at("holds"), false);
  EXPECT_EQ(json.at("properties").at("preserves"), "order");
  EXPECT_EQ(json.at("dataset"), nullptr);
  EXPECT_EQ(json.at("parameters").at(0).at("allowed"), 41.0);
  ASSERT_EQ(json.at("checks").size(), 7u);
  const Json& order = json.at("checks").at(2);
  EXPECT_EQ(order.at("name"), "order");
  EXPECT_EQ(order.at("holds"), false);
  EXPECT_EQ(order.at("violations").get<int64_t>(), Find(result, "order").violations);
  EXPECT_EQ(order.at("examples").at(0).at("output").size(), 4u);
}

}  // namespace
}  // namespace segcal
