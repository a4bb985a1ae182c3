// SPDX-License-Identifier: Apache-2.0
#include "segcal/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;
using testing::TemperatureModel;
using testing::TempFolder;
using testing::WriteScene;

double ValueOf(const std::vector<MetricValue>& metrics, const std::string& name) {
  EXPECT_NE(FindMetric(metrics, name), nullptr) << name;
  return FindValue(metrics, name);
}

EvaluateOptions EvaluateOn(int threads) {
  EvaluateOptions options;
  options.run.threads = threads;
  return options;
}

// Two classes, logits (log odds, 0): class 0 has probability odds / (1 + odds).
Scene ByOdds(const std::vector<std::vector<double>>& odds,
             const std::vector<std::vector<int32_t>>& labels) {
  Scene scene;
  scene.shape = {static_cast<int64_t>(labels[0].size())};
  scene.dataset.name = "by hand";
  scene.dataset.classes = {"a", "b"};
  scene.dataset.input = InputKind::kLogits;
  scene.dataset.ignore_label = 255;
  for (size_t i = 0; i < odds.size(); ++i) {
    std::vector<float> logits;
    for (const double o : odds[i]) logits.push_back(static_cast<float>(std::log(o)));
    logits.resize(2 * odds[i].size(), 0.0f);
    scene.logits.push_back({logits});
    scene.labels.push_back(labels[i]);
    scene.dataset.cases.push_back({.id = "case" + std::to_string(i), .members = {"memory"}});
  }
  return scene;
}

// Case 0: confidences 0.8, 0.8, 0.6, 0.6, right, wrong, right, right.
// Case 1: confidences 0.9, 0.9, right, right; two voxels ignored.
Scene HandScene() {
  return ByOdds({{4, 4, 1.5, 1 / 1.5}, {9, 9, 4, 4}}, {{0, 1, 0, 1}, {0, 0, 255, 255}});
}

EvaluateResult EvaluateByHand(const EvaluateOptions& options = EvaluateOn(2)) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(HandScene(), folder.path());
  return Evaluate(dataset, {Baseline(dataset, "none(z)")}, options);
}

TEST(Evaluate, EqualsASmallHandComputation) {
  const EvaluateResult result = EvaluateByHand();
  EXPECT_EQ(result.dataset, "by hand");
  EXPECT_EQ(result.voxels, 8);
  EXPECT_EQ(result.labelled, 6);
  ASSERT_EQ(result.pipelines.size(), 1u);
  const PipelineMetrics& pipeline = result.pipelines[0];
  EXPECT_EQ(pipeline.pipeline, "none(z)");
  ASSERT_EQ(pipeline.cases.size(), 2u);
  EXPECT_EQ(pipeline.cases[0].id, "case0");
  const auto& first = pipeline.cases[0].metrics;
  const auto& second = pipeline.cases[1].metrics;

  const double nll0 = -(std::log(0.8) + std::log(0.2) + 2 * std::log(0.6)) / 4;
  const double nll1 = -std::log(0.9);
  EXPECT_NEAR(ValueOf(first, "nll"), nll0, 1e-6);
  EXPECT_NEAR(ValueOf(second, "nll"), nll1, 1e-6);
  EXPECT_NEAR(ValueOf(pipeline.mean, "nll"), (nll0 + nll1) / 2, 1e-6);
  EXPECT_NEAR(ValueOf(pipeline.pooled, "nll"), (4 * nll0 + 2 * nll1) / 6, 1e-6);

  const double brier0 = (2 * 0.04 + 2 * 0.64 + 4 * 0.16) / 4;
  EXPECT_NEAR(ValueOf(first, "brier"), brier0, 1e-6);
  EXPECT_NEAR(ValueOf(pipeline.pooled, "brier"), (4 * brier0 + 2 * 0.02) / 6, 1e-6);

  // Bins of 0.02: {0.8: one of two right}, {0.6: both right}, {0.9: both right}.
  const double ece0 = (2 * 0.3 + 2 * 0.4) / 4;
  EXPECT_NEAR(ValueOf(first, "ece"), ece0, 1e-6);
  EXPECT_NEAR(ValueOf(second, "ece"), 0.1, 1e-6);
  EXPECT_NEAR(ValueOf(pipeline.mean, "ece"), (ece0 + 0.1) / 2, 1e-6);
  EXPECT_NEAR(ValueOf(pipeline.pooled, "ece"), (2 * 0.3 + 2 * 0.4 + 2 * 0.1) / 6, 1e-6);
  EXPECT_NEAR(ValueOf(pipeline.pooled, "mce"), 0.4, 1e-6);

  EXPECT_EQ(ValueOf(first, "accuracy"), 0.75);
  EXPECT_EQ(ValueOf(second, "accuracy"), 1.0);
  EXPECT_EQ(ValueOf(pipeline.mean, "accuracy"), 0.875);
  EXPECT_EQ(ValueOf(pipeline.pooled, "accuracy"), 5.0 / 6.0);
  EXPECT_EQ(ValueOf(pipeline.pooled, "flip_rate"), 0.0);
}

TEST(Evaluate, GivesTheBinsOfAReliabilityDiagram) {
  const PipelineMetrics pipeline = EvaluateByHand().pipelines[0];
  const Diagram* diagram = FindDiagram(pipeline.diagrams, DiagramKind::kReliability, "top_label");
  ASSERT_NE(diagram, nullptr);
  const std::vector<ReliabilityRow> rows = ReliabilityRows(*diagram);
  ASSERT_EQ(rows.size(), 50u);
  int64_t count = 0;
  int64_t correct = 0;
  for (const ReliabilityRow& row : rows) {
    count += row.count;
    correct += row.correct;
    EXPECT_NEAR(row.upper - row.lower, 0.02, 1e-7);
    if (row.count == 0) continue;
    EXPECT_GT(row.confidence_sum / static_cast<double>(row.count), row.lower);
    EXPECT_LE(row.confidence_sum / static_cast<double>(row.count), row.upper + 1e-7);
  }
  EXPECT_EQ(count, 6);
  EXPECT_EQ(correct, 5);
}

TEST(Evaluate, PassesOptionsToMetricFamilies) {
  EvaluateOptions options = EvaluateOn(1);
  options.metrics["calibration_error"]["bins"] = "1";
  // One bin: |mean confidence - accuracy| over all six voxels.
  const double gap = std::fabs((2 * 0.8 + 2 * 0.6 + 2 * 0.9) / 6 - 5.0 / 6.0);
  EXPECT_NEAR(ValueOf(EvaluateByHand(options).pipelines[0].pooled, "ece"), gap, 1e-6);
  options.metrics["calibration_error"]["bins"] = "0";
  ExpectError(ErrorCode::kInvalidArgument, {"bins"}, [&] { EvaluateByHand(options); });
  options.metrics = {{"ece", {}}};
  ExpectError(ErrorCode::kInvalidArgument,
              {"unknown metric family \"ece\"", "families are", "calibration_error"},
              [&] { EvaluateByHand(options); });
}

TEST(Evaluate, LeavesACaseWithoutLabelledVoxelOutOfTheMean) {
  Scene scene = HandScene();
  scene.labels[1].assign(4, 255);
  const TempFolder folder;
  const Dataset dataset = WriteScene(scene, folder.path());
  const EvaluateResult result = Evaluate(dataset, {Baseline(dataset, "none(z)")}, EvaluateOn(2));
  const PipelineMetrics& pipeline = result.pipelines[0];
  EXPECT_TRUE(std::isnan(ValueOf(pipeline.cases[1].metrics, "nll")));
  EXPECT_EQ(ValueOf(pipeline.mean, "nll"), ValueOf(pipeline.cases[0].metrics, "nll"));
  const Json json = ParseJson(ToJson(result), "metrics");
  EXPECT_TRUE(json["pipelines"][0]["metric_per_case"][1]["metrics"]["nll"].is_null());
}

TEST(Evaluate, MaskedVoxelsTakeNoPart) {
  Scene scene = HandScene();
  scene.masks = {{1, 0, 1, 1}, {1, 1, 1, 1}};  // leaves out the only wrong voxel
  const TempFolder folder;
  const Dataset dataset = WriteScene(scene, folder.path());
  const EvaluateResult result = Evaluate(dataset, {Baseline(dataset, "none(z)")}, EvaluateOn(1));
  EXPECT_EQ(result.labelled, 5);
  EXPECT_EQ(ValueOf(result.pipelines[0].pooled, "accuracy"), 1.0);
}

// Exact in float16; several blocks per case, so that work is really split.
Scene HalfScene() {
  Scene scene = RandomScene(
      {.num_cases = 3, .num_members = 2, .num_classes = 4, .shape = {101, 97}, .offset = 0.5});
  for (auto& members : scene.logits) {
    for (auto& member : members) {
      for (float& z : member) z = std::fmin(std::fmax(z, -7.0f), 7.0f);
    }
  }
  scene.dataset.background = 0;
  return scene;
}

std::vector<Model> SomeModels(const Dataset& dataset) {
  return {Baseline(dataset, "none(z)"),
          TemperatureModel(dataset, 0.5, "z"),
          TemperatureModel(dataset, 0.5, "p"),
          Baseline(dataset, "none(z1)")};
}

TEST(Evaluate, WritesTheSameBytesForAnyNumberOfThreads) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(HalfScene(), folder.path());
  const std::string one = ToJson(Evaluate(dataset, SomeModels(dataset), EvaluateOn(1)));
  EXPECT_TRUE(ToJson(Evaluate(dataset, SomeModels(dataset), EvaluateOn(2))) == one);
  EXPECT_TRUE(ToJson(Evaluate(dataset, SomeModels(dataset), EvaluateOn(3))) == one);
}

TEST(Evaluate, WritesTheSameBytesForEveryTypeAndLayout) {
  const TempFolder folder;
  std::string expected;
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const bool last : {false, true}) {
      const Dataset dataset =
          WriteScene(HalfScene(), folder.path(), {.dtype = dtype, .channels_last = last});
      const std::string text = ToJson(Evaluate(dataset, SomeModels(dataset), EvaluateOn(2)));
      if (expected.empty()) expected = text;
      EXPECT_TRUE(text == expected) << Name(dtype) << last;
    }
  }
}

// Models that share a pooled tile must not disturb each other.
TEST(Evaluate, GivesEachModelWhatItGetsAlone) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(HalfScene(), folder.path());
  const std::vector<Model> models = SomeModels(dataset);
  const EvaluateResult together = Evaluate(dataset, models, EvaluateOn(2));
  for (size_t m = 0; m < models.size(); ++m) {
    const EvaluateResult alone = Evaluate(dataset, {models[m]}, EvaluateOn(2));
    const Json a = ParseJson(ToJson(together), "together")["pipelines"][m];
    EXPECT_EQ(a.dump(), ParseJson(ToJson(alone), "alone")["pipelines"][0].dump()) << m;
  }
}

TEST(Evaluate, TemperatureFlipsNothing) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(HalfScene(), folder.path());
  for (const double beta : {0.0, 0.3, 1e6}) {
    const EvaluateResult result =
        Evaluate(dataset, {TemperatureModel(dataset, beta)}, EvaluateOn(2));
    EXPECT_EQ(ValueOf(result.pipelines[0].pooled, "flip_rate"), 0.0) << beta;
  }
}

TEST(Evaluate, SaysWhichCaseHasNoLabels) {
  const TempFolder folder;
  Dataset dataset = WriteScene(HandScene(), folder.path());
  dataset.cases[1].labels = {};
  ExpectError(ErrorCode::kBadData, {"case1", "no labels"}, [&] {
    Evaluate(dataset, {Baseline(dataset, "none(z)")}, EvaluateOn(2));
  });
}

TEST(Evaluate, SkipsACaseWithoutLabelsWhenToldTo) {
  const TempFolder folder;
  Dataset dataset = WriteScene(HandScene(), folder.path());
  dataset.cases[1].labels = {};
  EvaluateOptions options = EvaluateOn(2);
  options.run.skip_bad = true;
  const EvaluateResult result = Evaluate(dataset, {Baseline(dataset, "none(z)")}, options);
  EXPECT_EQ(result.labelled, 4);
  EXPECT_EQ(result.skipped, (std::vector<std::string>{"case1: no labels"}));
}

// Three pipelines pool the same rows; each row counts once.
TEST(Evaluate, CountsRenormalisedRowsOnce) {
  Scene scene = ByOdds({{1, 1, 1, 1}}, {{0, 1, 0, 1}});
  scene.dataset.input = InputKind::kProbs;
  scene.logits[0][0] = {0.25f, 0.25f, 0.25f, 0.25f, 0.7f, 0.75f, 0.8f, 0.75f};
  const TempFolder folder;
  const Dataset dataset = WriteScene(scene, folder.path());
  const std::vector<Model> models = {Baseline(dataset, "none(z)"),
                                     TemperatureModel(dataset, 0.5, "z"),
                                     Baseline(dataset, "none(p)")};
  EXPECT_EQ(Evaluate(dataset, models, EvaluateOn(1)).renormalised, 2);
}

TEST(Evaluate, RefusesAnEmptySplitAndNoModels) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(HandScene(), folder.path());
  EvaluateOptions options;
  options.split = "test";
  ExpectError(ErrorCode::kInvalidArgument, {"\"by hand\"", "\"test\"", "none"}, [&] {
    Evaluate(dataset, {Baseline(dataset, "none(z)")}, options);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"no model"}, [&] { Evaluate(dataset, {}, {}); });
  Dataset empty = dataset;
  empty.cases.clear();
  ExpectError(ErrorCode::kBadData, {"no cases"}, [&] {
    Evaluate(empty, {Baseline(empty, "none(z)")}, {});
  });
}

TEST(Evaluate, TakesTheCasesOfOneSplitAndNamesIt) {
  const TempFolder folder;
  Dataset dataset = WriteScene(HandScene(), folder.path());
  dataset.cases[1].split = "test";
  EvaluateOptions options;
  options.split = "test";
  const EvaluateResult result = Evaluate(dataset, {Baseline(dataset, "none(z)")}, options);
  EXPECT_EQ(result.voxels, 4);
  EXPECT_EQ(ParseJson(ToJson(result), "m")["split"], "test");
}

TEST(Evaluate, ListsCasesItSkipped) {
  const TempFolder folder;
  Dataset dataset = WriteScene(HandScene(), folder.path());
  dataset.cases[0].members = {"absent.npy"};
  EvaluateOptions options;
  options.run.skip_bad = true;
  const EvaluateResult result = Evaluate(dataset, {Baseline(dataset, "none(z)")}, options);
  EXPECT_EQ(result.pipelines[0].cases.size(), 1u);
  ASSERT_EQ(result.skipped.size(), 1u);
  EXPECT_NE(result.skipped[0].find("absent.npy"), std::string::npos);
  // The file holds no paths of one machine.
  EXPECT_EQ(ParseJson(ToJson(result), "m")["skipped"][0], dataset.cases[0].id);
}

// Two cases of 2^20 voxels, each 4 + 72 + 4 bytes, are 160 MiB; metrics that are sums need none.
TEST(Evaluate, WarnsWhenMetricsKeepMoreThanTheMemoryAllowed) {
  const Scene scene = RandomScene({.num_cases = 2, .num_classes = 2, .shape = {1024, 1024}});
  const TempFolder folder;
  const Dataset dataset = WriteScene(scene, folder.path());
  EvaluateOptions options = EvaluateOn(2);
  options.run.memory = int64_t{64} << 20;
  const std::vector<Model> models = {Baseline(dataset, "none(z)")};
  const EvaluateResult result = Evaluate(dataset, models, options);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("0.1 GiB for the largest"), std::string::npos)
      << result.warnings[0];
  options.families = {"scores", "calibration_error"};
  EXPECT_TRUE(Evaluate(dataset, models, options).warnings.empty());
}

TEST(Baseline, RefusesWhatMustBeFitted) {
  ExpectError(ErrorCode::kInvalidArgument, {"ts(p) must be fitted"}, [] {
    Baseline(HandScene().dataset, "ts(p)");
  });
}

}  // namespace
}  // namespace segcal
