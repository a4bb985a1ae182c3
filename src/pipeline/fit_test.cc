// SPDX-License-Identifier: Apache-2.0
#include "segcal/fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/json.h"
#include "pipeline/model.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;
using testing::WriteScene;

FitOptions FitOn(int threads) {
  FitOptions options;
  options.run.threads = threads;
  return options;
}

bool Warns(const Model& model, const std::string& part) {
  const auto& warnings = model.report().warnings;
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

TEST(Fit, TakesTheCalibrationCasesWhereTheDataSetNamesSplits) {
  const TempFolder folder;
  Scene scene = RandomScene({.num_cases = 4, .shape = {30, 30}});
  const Dataset all = WriteScene(scene, folder.path());
  EXPECT_EQ(Fit(all, "ts(z)").model.report().data.cases, 4);
  Dataset split = all;
  split.cases[1].split = "calibration";
  split.cases[3].split = "test";
  const Model model = Fit(split, "ts(z)").model;
  EXPECT_EQ(model.report().data.cases, 1);
  EXPECT_EQ(model.report().data.voxels, 900);
  for (Case& c : split.cases) c.split = "test";
  ExpectError(
      ErrorCode::kInvalidArgument, {"\"calibration\"", "test"}, [&] { Fit(split, "ts(z)"); });
}

TEST(Fit, ChoosesPenaltiesByFoldsOverAllCasesUnlessTold) {
  const TempFolder folder;
  Dataset dataset = WriteScene(RandomScene({.num_cases = 6, .shape = {20, 20}}), folder.path());
  for (size_t c = 0; c < 6; ++c)
    dataset.cases[c].split = c < 3 ? "calibration" : c < 5 ? "validation" : "test";
  FitOptions options;
  options.search = 3;
  const FitReport by_folds = Fit(dataset, "ms_c(z)", options).model.report();
  EXPECT_EQ(by_folds.search.select, Selection::kFolds);
  EXPECT_EQ(by_folds.data.cases, 5);
  options.select = Selection::kValidation;
  const FitReport by_validation = Fit(dataset, "ms_c(z)", options).model.report();
  EXPECT_EQ(by_validation.search.select, Selection::kValidation);
  EXPECT_EQ(by_validation.data.cases, 3);
  // Nothing to choose, or a training, which stops by the validation cases.
  options.select = Selection::kFolds;
  EXPECT_EQ(Fit(dataset, "ts(z)", options).model.report().data.cases, 3);
  EXPECT_EQ(Fit(dataset, "selective(z, epochs=2)", options).model.report().data.cases, 3);
  options.search = 0;
  EXPECT_EQ(Fit(dataset, "ms_c(z)", options).model.report().data.cases, 3);
}

TEST(Fit, TakesTheSplitItIsTold) {
  const TempFolder folder;
  Dataset dataset = WriteScene(RandomScene({.num_cases = 3, .shape = {30, 30}}), folder.path());
  dataset.cases[0].split = "calibration";
  dataset.cases[1].split = dataset.cases[2].split = "test";
  FitOptions options;
  options.split = "test";
  EXPECT_EQ(Fit(dataset, "ts(z)", options).model.report().data.cases, 2);
  options.split = "validation";
  ExpectError(ErrorCode::kInvalidArgument, {"\"validation\"", "calibration, test"}, [&] {
    Fit(dataset, "ts(z)", options);
  });
}

TEST(Fit, WritesTheSameModelForEveryTypeLayoutAndNumberOfThreads) {
  Scene scene = RandomScene(
      {.num_cases = 3, .num_members = 2, .num_classes = 4, .shape = {101, 97}, .offset = 0.5});
  for (auto& members : scene.logits) {
    for (auto& member : members) {
      for (float& z : member) z = std::clamp(z, -7.0f, 7.0f);
    }
  }
  const TempFolder folder;
  for (const char* pipeline : {"ts(z)", "ts(p)"}) {
    std::string expected;
    for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
      const bool last = dtype == DType::kF16;
      const Dataset dataset =
          WriteScene(scene, folder.path(), {.dtype = dtype, .channels_last = last});
      for (const int threads : {1, 2, 3}) {
        const std::string text = Fit(dataset, pipeline, FitOn(threads)).model.ToJson();
        if (expected.empty()) expected = text;
        EXPECT_TRUE(text == expected) << pipeline << " " << Name(dtype) << " " << threads;
      }
    }
  }
}

TEST(Fit, WarnsAboutClassesWithoutLabels) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {40, 40}});
  for (int32_t& label : scene.labels[0]) label = label == 2 ? 0 : label;
  const TempFolder folder;
  const Model model = Fit(WriteScene(scene, folder.path()), "ts(z)").model;
  EXPECT_TRUE(Warns(model, "no voxel is labelled class2"));
  EXPECT_FALSE(Warns(model, "repeat"));
}

TEST(Fit, WarnsAboutConstantFills) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {64, 64}});
  for (size_t c = 0; c < 3; ++c) {
    for (size_t v = 0; v < 1024; ++v) scene.logits[0][0][c * 4096 + v] = c == 0 ? 1.0f : 0.0f;
  }
  const TempFolder folder;
  EXPECT_TRUE(
      Warns(Fit(WriteScene(scene, folder.path()), "ts(z)").model, "25.0 % of the voxels repeat"));
}

TEST(Fit, WarnsAboutProbabilitiesItHadToRenormalise) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 2, .shape = {400}, .ignored = 0.0});
  scene.dataset.input = InputKind::kProbs;
  for (size_t v = 0; v < 400; ++v) {
    scene.logits[0][0][v] = static_cast<float>(1 + v % 97) / 128.0f;
    scene.logits[0][0][400 + v] = 1.0f - scene.logits[0][0][v] + (v < 7 ? 0.01f : 0.0f);
  }
  const TempFolder folder;
  EXPECT_TRUE(Warns(Fit(WriteScene(scene, folder.path()), "ts(z)").model, "7 probability rows"));
}

TEST(Fit, UsesNoMaskedVoxel) {
  Scene scene = RandomScene({.num_cases = 1, .shape = {40, 40}, .ignored = 0.0});
  const TempFolder folder;
  const Dataset whole = WriteScene(scene, folder.File("whole"));
  scene.masks = {std::vector<uint8_t>(1600, 1)};
  for (size_t v = 0; v < 800; ++v) scene.masks[0][v] = 0;
  const FitReport masked = Fit(WriteScene(scene, folder.File("masked")), "ts(z)").model.report();
  EXPECT_EQ(masked.data.labelled, 800);
  EXPECT_EQ(masked.data.voxels, 1600);
  for (size_t v = 0; v < 800; ++v) scene.labels[0][v] = 255;
  scene.masks.clear();
  const FitReport ignored = Fit(WriteScene(scene, folder.File("ignored")), "ts(z)").model.report();
  EXPECT_EQ(masked.nll_before, ignored.nll_before);
  EXPECT_EQ(masked.nll_after, ignored.nll_after);
}

TEST(Fit, RefusesDataItCannotUse) {
  const TempFolder folder;
  Scene scene = RandomScene({.num_cases = 2, .shape = {10, 10}});
  Dataset dataset = WriteScene(scene, folder.path());
  ExpectError(
      ErrorCode::kInvalidArgument, {"unknown calibrator"}, [&] { Fit(dataset, "magic(z)"); });
  ExpectError(
      ErrorCode::kInvalidArgument, {"z4", "members 0 to 0"}, [&] { Fit(dataset, "ts(z4)"); });
  for (Case& c : dataset.cases) c.labels = {};
  ExpectError(
      ErrorCode::kBadData, {"no labelled voxel", "200 voxels"}, [&] { Fit(dataset, "ts(z)"); });
  dataset.cases.clear();
  ExpectError(ErrorCode::kBadData, {"no cases"}, [&] { Fit(dataset, "ts(z)"); });
}

TEST(Fit, RefusesProbabilitiesThatAreCalledLogits) {
  const TempFolder folder;
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 2, .shape = {400}});
  for (size_t v = 0; v < 400; ++v) {
    scene.logits[0][0][v] = static_cast<float>(1 + v % 97) / 128.0f;
    scene.logits[0][0][400 + v] = 1.0f - scene.logits[0][0][v];
  }
  const Dataset dataset = WriteScene(scene, folder.path());
  ExpectError(
      ErrorCode::kBadData, {"case0_m0.npy", "\"probabilities\""}, [&] { Fit(dataset, "ts(z)"); });
}

TEST(Fit, SkipsBadCasesWhenToldToAndReportsThem) {
  const TempFolder folder;
  Scene scene = RandomScene({.num_cases = 3, .shape = {10, 10}});
  scene.labels[1][5] = 99;
  const Dataset dataset = WriteScene(scene, folder.path());
  ExpectError(
      ErrorCode::kBadData, {"case1_labels.npy", "label 99"}, [&] { Fit(dataset, "ts(z)"); });
  FitOptions options = FitOn(2);
  options.run.skip_bad = true;
  const FitResult result = Fit(dataset, "ts(z)", options);
  EXPECT_EQ(result.model.report().data.cases, 2);
  EXPECT_EQ(result.skipped.size(), 1u);
}

TEST(Fit, ReportsProgressOfEveryPass) {
  const TempFolder folder;
  const Dataset dataset =
      WriteScene(RandomScene({.num_cases = 2, .shape = {10, 10}}), folder.path());
  std::vector<std::string> stages;
  FitOptions options = FitOn(1);
  options.run.progress = ListenOnly([&](const Progress& progress) {
    if (progress.stage.empty()) return;
    if (stages.empty() || stages.back() != progress.stage) stages.push_back(progress.stage);
  });
  const Model model = Fit(dataset, "ts(z)", options).model;
  EXPECT_EQ(static_cast<int64_t>(stages.size()), model.report().passes);
  EXPECT_EQ(stages.at(0), "survey");
}

}  // namespace
}  // namespace segcal
