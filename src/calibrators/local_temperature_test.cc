// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "calibrators/simulated_for_test.h"
#include "core/json.h"
#include "formats/array.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/apply.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::ExpectError;
using testing::FitAs;
using testing::RandomScene;
using testing::Scene;
using testing::Simulated;

// The filters of a fitted tree by name.
std::vector<double> Filter(const Model& model, const char* name) {
  return ModelAccess::State(model).calibrator->Parameters().at(name).get<std::vector<double>>();
}

// The true temperature follows from the logits around a voxel. Of what a single temperature leaves
// to gain on cases that were not fitted on, the tree must gain most.
TEST(LocalTemperature, RecoversATemperatureFieldBetterThanOneTemperature) {
  SimulateOptions options;
  options.true_map = "temperature_field";
  options.variation = 0.9;
  options.num_classes = 4;
  options.size = {160, 200};
  options.num_cases = 12;
  const Simulated data(options);
  const double ts = data.TestLoss("ts(z)");
  const double lts = data.TestLoss("lts(z)");
  const double gap = ts - data.true_loss();
  ASSERT_GT(gap, 0.005);
  EXPECT_GT((ts - lts) / gap, 0.9)
      << "ts " << ts << " lts " << lts << " truth " << data.true_loss();
}

TEST(LocalTemperature, IsNoWorseThanOneTemperatureWhereThatIsTheTruth) {
  SimulateOptions options;
  options.num_classes = 4;
  options.size = {120, 160};
  const Simulated data(options);
  const double ts = data.TestLoss("ts(z)");
  EXPECT_LT(data.TestLoss("lts(z)"), ts + 1e-3);
}

TEST(LocalTemperature, NeverSplitsFromTheZeroStartAndDoesFromItsOwn) {
  // One case, judged by itself: some epoch is better than the start.
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {60, 70}});
  const Model zero = FitAs("lts(z, start=zero, epochs=30)", scene, 7);
  for (const char* leaf : {"t2", "t3", "t4"}) EXPECT_EQ(Filter(zero, leaf), Filter(zero, "t1"));
  EXPECT_NE(Filter(zero, "t1"), std::vector<double>(76, 0.0));
  for (const char* gate : {"g1", "g2", "g3"})
    EXPECT_EQ(Filter(zero, gate), std::vector<double>(76, 0.0));
  for (const char* start : {"default", "identity"}) {
    const Model own = FitAs(std::string("lts(z, epochs=30, start=") + start + ")", scene, 7);
    EXPECT_NE(Filter(own, "t1"), Filter(own, "t2")) << start;
    EXPECT_NE(Filter(own, "t1"), Filter(own, "t3")) << start;
  }
}

// Without an epoch the identity is what the identity start says it is.
TEST(LocalTemperature, StartsAtTheIdentityOrAtTheTemperatureOfASample) {
  const Scene scene = RandomScene({.num_classes = 3, .shape = {100, 120}, .true_beta = 0.5});
  const Model identity = FitAs("lts(z, start=identity, epochs=0)", scene, 7);
  const Model none = FitAs("none(z)", scene, 7);
  const std::vector<float> expected = ApplyInMemory(none, scene, 0);
  const std::vector<float> found = ApplyInMemory(identity, scene, 0);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-6);

  const Model start = FitAs("lts(z, epochs=0)", scene, 7);
  const double ts = FitAs("ts(z)", scene, 7).report().nll_after;
  EXPECT_NEAR(start.report().nll_after, ts, 1e-5);
}

TEST(LocalTemperature, SaysWhatItWasTrainedOn) {
  const Scene scene = RandomScene({.num_cases = 5, .num_classes = 3});
  const FitOutcome outcome = FitAs("lts(z, epochs=3)", scene, 7).report();
  EXPECT_EQ(outcome.solver, "adam");
  EXPECT_EQ(outcome.status, FitStatus::kTrained);
  EXPECT_EQ(outcome.training.epochs, 3);
  EXPECT_EQ(outcome.training.voxels, 4 * scene.num_voxels());
  EXPECT_EQ(outcome.training.validation_voxels, scene.num_voxels());
  EXPECT_LE(outcome.training.validation_nll, outcome.training.start_nll);
  EXPECT_LE(outcome.training.validation_nll, outcome.training.identity_nll);
  // Survey, patches, loss; three epochs of four fifths of the voxels.
  EXPECT_EQ(outcome.passes, 6);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("1 of 5 cases"), std::string::npos) << outcome.warnings[0];
}

TEST(LocalTemperature, OneClassOrEqualLogitsLeaveNothingToFit) {
  const Model one = FitAs("lts(z)", RandomScene({.num_classes = 1}), 7);
  EXPECT_EQ(one.report().status, FitStatus::kNothingToFit);
  EXPECT_EQ(one.report().nll_after, 0.0);
  Scene flat = RandomScene({.num_classes = 3});
  for (auto& members : flat.logits) std::fill(members[0].begin(), members[0].end(), 2.0f);
  EXPECT_EQ(FitAs("lts(z)", flat, 7).report().status, FitStatus::kNothingToFit);
}

bool Says(const FitOutcome& outcome, const std::string& part) {
  return std::any_of(outcome.warnings.begin(), outcome.warnings.end(), [&](const std::string& w) {
    return w.find(part) != std::string::npos;
  });
}

// All is background: the region All is empty.
TEST(LocalTemperature, ARegionWithoutLabelsLeavesNothingToFit) {
  Scene scene = RandomScene({.num_cases = 3, .num_classes = 3});
  scene.dataset.background = 0;
  for (auto& labels : scene.labels) std::fill(labels.begin(), labels.end(), 0);
  for (const char* pipeline : {"lts(z, region=all)", "ibts(z, region=all)"}) {
    const Model model = FitAs(pipeline, scene, 7);
    const FitOutcome& outcome = model.report();
    EXPECT_EQ(outcome.status, FitStatus::kNothingToFit) << pipeline;
    EXPECT_TRUE(Says(outcome, "no labelled voxel lies in the region that counts")) << pipeline;
    EXPECT_FALSE(Says(outcome, "trained on as well")) << pipeline;
    EXPECT_NEAR(outcome.nll_after, model.report().nll_before, 1e-6) << pipeline;
  }
}

TEST(LocalTemperature, SaysThatTheVoxelsTrainedOnHadToJudge) {
  // The same seed holds out the same case: the one whose labels are then taken away.
  Scene scene = RandomScene({.num_cases = 5, .num_classes = 3});
  int64_t said = 0;
  for (size_t held = 0; held < 5; ++held) {
    Scene without = scene;
    std::fill(without.labels[held].begin(), without.labels[held].end(), 255);
    const FitOutcome outcome = FitAs("lts(z, epochs=1)", without, 7).report();
    EXPECT_EQ(outcome.status, FitStatus::kTrained);
    said += Says(outcome, "no labelled voxel in the validation cases") ? 1 : 0;
  }
  EXPECT_EQ(said, 1);
}

// Weights are in units of the input, and those of a tiny one would be beyond what a file may hold.
TEST(LocalTemperature, TinyLogitsGiveWeightsThatCanBeReadAgain) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 3});
  for (float& z : scene.logits[0][0]) z *= 1e-9f;
  const testing::TempFolder folder;
  for (const char* pipeline : {"lts_raw(z, epochs=3)", "lts(z, epochs=3)"}) {
    const Model model = FitAs(pipeline, scene, 7);
    const Model read = Model::Load(folder.Put("model.json", model.ToJson()));
    EXPECT_TRUE(ApplyInMemory(read, scene, 0) == ApplyInMemory(model, scene, 0)) << pipeline;
  }
}

// The offset is all that changes: `lts` does not see it, `lts_raw` does; neither changes a
// decision.
TEST(LocalTemperature, OnlyTheRawOneSeesOffsets) {
  const Scene scene = RandomScene({.num_classes = 4, .shape = {50, 60}});
  Scene shifted = scene;
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t v = 0; v < n; ++v) {
    for (size_t c = 0; c < 4; ++c)
      shifted.logits[0][0][c * n + v] += static_cast<float>(static_cast<int>(v % 41) - 20);
  }
  const Model lts = FitAs("lts(z, epochs=10)", scene, 7);
  const Model raw = FitAs("lts_raw(z, epochs=10)", scene, 7);
  EXPECT_TRUE(ApplyInMemory(lts, scene, 0) == ApplyInMemory(lts, shifted, 0));
  EXPECT_FALSE(ApplyInMemory(raw, scene, 0) == ApplyInMemory(raw, shifted, 0));
  const auto decisions = testing::Argmax(scene.logits[0][0], 4);
  EXPECT_EQ(testing::Argmax(ApplyInMemory(lts, shifted, 0), 4), decisions);
  EXPECT_EQ(testing::Argmax(ApplyInMemory(raw, shifted, 0), 4), decisions);
}

TEST(LocalTemperature, WritesItsMap) {
  const testing::TempFolder folder;
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {2, 30, 40}});
  const Dataset dataset = testing::WriteScene(scene, folder.File("data"));
  const Model model = FitAs("lts(z, epochs=10)", scene, 7);
  ApplyOptions options;
  options.write = {"temperature", "probabilities"};
  const auto files = Apply(model, dataset, folder.File("out"), options).files;
  const std::vector<float> temperature = testing::ReadFloats(files.at(0));
  const std::vector<float> probs = testing::ReadFloats(files.at(1));
  ASSERT_EQ(temperature.size(), 2400u);
  const auto [least, most] = std::minmax_element(temperature.begin(), temperature.end());
  EXPECT_LT(*least, *most);
  // log q_0 - log q_1 = (z_0 - z_1) / T.
  for (size_t v = 0; v < 2400; ++v) {
    const double gap = static_cast<double>(scene.logits[0][0][v]) -
                       static_cast<double>(scene.logits[0][0][2400 + v]);
    const double found =
        std::log(static_cast<double>(probs[v]) / static_cast<double>(probs[2400 + v]));
    ASSERT_NEAR(found, gap / static_cast<double>(temperature[v]), 2e-5 + 1e-5 * std::fabs(gap))
        << v;
  }
}

TEST(LocalTemperature, NeedsTheShapeOfArrays) {
  const Scene scene = RandomScene({.num_classes = 3});
  const Model model = FitAs("lts(z, epochs=1)", scene, 7);
  const LogitsView row{MakeView(scene.logits[0][0].data(), {3, scene.num_voxels()})};
  std::vector<float> out(scene.logits[0][0].size());
  const ArraySpan span = MakeSpan(out.data(), {3, scene.num_voxels()});
  ExpectError(ErrorCode::kInvalidArgument, {"neighbours", "(C, H, W)"}, [&] {
    model.Apply(row, {.probabilities = span});
  });
}

TEST(LocalTemperatureImage, FitsWithImagesAndRefusesOthers) {
  SimulateOptions options;
  options.num_classes = 3;
  options.size = {48, 70};
  options.num_cases = 6;
  const Simulated data(options);
  const Model model = data.FitModel("lts_image(z, epochs=10)");
  EXPECT_EQ(ModelAccess::State(model).calibrator->counts(3).optimised, 8 * 76 + 76);
  EXPECT_LE(model.report().training.validation_nll, model.report().training.identity_nll);
  EXPECT_EQ(Filter(model, "t5").size(), 76u);

  Dataset without = data.dataset();
  for (Case& c : without.cases) c.image = {};
  ExpectError(ErrorCode::kBadData, {"no image"}, [&] { Fit(without, "lts_image(z)"); });
  // The labels have one channel, the model looks at three.
  Dataset grey = data.dataset();
  for (Case& c : grey.cases) c.image = c.labels;
  const testing::TempFolder folder;
  ExpectError(ErrorCode::kBadData, {"1 channels", "looks at 3"}, [&] {
    Apply(model, grey, folder.File("out"), {});
  });
}

// All temperatures of the first case of a data set.
std::vector<float> Temperatures(const Model& model, Dataset dataset) {
  dataset.cases.resize(1);
  const testing::TempFolder folder;
  ApplyOptions options;
  options.write = {"temperature"};
  return testing::ReadFloats(Apply(model, dataset, folder.File("out"), options).files.at(0));
}

// All weights zero is T = 1.001 by (LT4), the start of the paper; the identity is 1.
TEST(LocalTemperatureImage, TheIdentityIsTheTemperatureOne) {
  SimulateOptions options;
  options.num_classes = 3;
  options.size = {48, 70};
  options.num_cases = 6;
  const Simulated data(options);
  const auto expect = [&](const Model& model, double temperature) {
    for (const float found : Temperatures(model, data.dataset()))
      ASSERT_NEAR(found, temperature, 3e-7);
  };
  expect(data.FitModel("lts_image(z, start=identity, epochs=0)"), 1.0);
  // The simulated logits are too sharp, so 1.001 is better than the identity and is kept.
  expect(data.FitModel("lts_image(z, start=zero, epochs=0)"), 1.001);
}

// Logits too flat by half: 1.001 is worse than the identity, which is then kept.
TEST(LocalTemperatureImage, KeepsTheIdentityWhereTrainingEndsAboveIt) {
  const testing::TempFolder folder;
  const Scene scene = RandomScene({.num_classes = 3, .shape = {48, 70}, .true_beta = 2.0});
  Dataset dataset = testing::WriteScene(scene, folder.File("data"));
  for (Case& c : dataset.cases) c.image = c.labels;
  const Model model = Fit(dataset, "lts_image(z, start=zero, epochs=0)").model;
  EXPECT_TRUE(Says(model.report(), "the identity is kept"));
  for (const float found : Temperatures(model, dataset)) ASSERT_NEAR(found, 1.0, 3e-7);
}

TEST(LocalTemperature, OptionsOutOfRangeAreRefused) {
  for (const char* name : {"lts", "lts_raw", "lts_image"}) {
    EXPECT_THROW(MakeCalibrator({name}, {{"start", "random"}}), Error);
    EXPECT_THROW(MakeCalibrator({name}, {{"learning_rate", "0"}}), Error);
    EXPECT_THROW(MakeCalibrator({name}, {{"region", "boundary"}}), Error);
    EXPECT_NO_THROW(MakeCalibrator({name}, {{"region", "all"}}));
  }
}

}  // namespace
}  // namespace segcal
