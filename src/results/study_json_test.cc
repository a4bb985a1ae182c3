// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "results/round_trip_for_test.h"
#include "segcal/study.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

// Parts that have tests of their own are looked at as text.
EvaluateResult EvaluateTwo(const std::vector<std::string>& families) {
  const testing::TempFolder folder;
  const testing::Scene scene =
      testing::RandomScene({.num_cases = 3, .num_classes = 3, .shape = {9, 7}});
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  EvaluateOptions options;
  options.families = families;
  return Evaluate(
      dataset, {Baseline(dataset, "none(z)"), testing::TemperatureModel(dataset, 0.5)}, options);
}

DatasetSummary InspectSmallScene() {
  const testing::TempFolder folder;
  const testing::Scene scene =
      testing::RandomScene({.num_cases = 3, .num_classes = 3, .shape = {9, 7}});
  return Inspect(testing::WriteScene(scene, folder.path()));
}

// A study in which no list is empty.
Study SmallStudy(const std::vector<std::string>& families = {}) {
  const EvaluateResult result = EvaluateTwo(families);
  const std::string baseline = result.pipelines[0].pipeline;
  const std::string fitted = result.pipelines[1].pipeline;
  Study study;
  study.protocol = {.version = "1",
                    .target = "AVX2",
                    .seed = UINT64_MAX,
                    .split = {1, 2, 3},
                    .search = 5,
                    .select = Selection::kFolds,
                    .paper_objective = true};
  study.data = InspectSmallScene();
  study.pipelines = {{.pipeline = baseline, .baseline = true},
                     {.pipeline = fitted,
                      .properties = {.translation_invariant = true, .preserves = Preserves::kOrder},
                      .parameters = {.optimised = 2, .identifiable = 1}}};
  FitReport report;
  report.data = {.name = "x", .cases = 3, .voxels = 100, .labelled = 90, .hash = 7};
  report.nll_after = 0.25;
  study.repeats = {{.seed = 4,
                    .calibration = {"a", "b"},
                    .validation = {"c"},
                    .test = {"d"},
                    .fits = {{.pipeline = baseline, .fitted = baseline},
                             {.pipeline = fitted,
                              .fitted = "ts(z, x=1)",
                              .model = "models/repeat0/ts_z.json",
                              .report = report}},
                    .chosen_by = EvaluateTwo({"nll"}),
                    .result = result}};
  study.statistics = ComputeStatistics({&result, 1}, {.replicates = 20});
  study.flips = {
      {.pipeline = baseline, .flips = 1, .harmful = 0.5, .beneficial = 0.3, .neutral = 0.2},
      {.pipeline = fitted}};
  study.sensitivity = {{.about = Sensitivity::kAceBins,
                        .value = 20,
                        .pipeline = fitted,
                        .intervals = {{"ace", 0.1, 0.05, std::nan("")}}}};
  study.shifts = {{.name = "mild", .repeats = {result}, .statistics = study.statistics}};
  study.failures = {{.repeat = 1, .pipeline = "lts(z)", .stage = "fit", .reason = "no"}};
  study.recommendation = {.pipeline = fitted,
                          .score = "nll",
                          .preserves = Preserves::kOrder,
                          .translation_invariant = false,
                          .groups = 9,
                          .candidates = {{.pipeline = baseline, .excluded = "why"},
                                         {.pipeline = fitted,
                                          .score = 0.5,
                                          .difference = 0.25,
                                          .standard_error = 0.125,
                                          .within = true}},
                          .reasons = {"because"},
                          .warnings = {"but"},
                          .commands = {"segcal apply recommended.json"}};
  study.warnings = {"few cases"};
  return study;
}

TEST(StudyJson, ReadsBackEveryField) {
  const Study study = SmallStudy();
  const std::string text = ToJson(study);
  const Study again = StudyFromJson(text);
  EXPECT_EQ(ToJson(again), text);
  // What was set to something else than a default arrived.
  EXPECT_EQ(again.protocol.seed, UINT64_MAX);
  EXPECT_EQ(again.protocol.split, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(again.protocol.search, 5);
  EXPECT_EQ(again.protocol.select, Selection::kFolds);
  EXPECT_TRUE(again.protocol.paper_objective);
  EXPECT_EQ(again.data.voxels, study.data.voxels);
  EXPECT_TRUE(again.pipelines[0].baseline);
  EXPECT_EQ(again.pipelines[1].properties.preserves, Preserves::kOrder);
  EXPECT_EQ(again.pipelines[1].parameters.optimised, 2);
  EXPECT_EQ(again.repeats[0].calibration, study.repeats[0].calibration);
  EXPECT_EQ(again.repeats[0].fits[1].model, study.repeats[0].fits[1].model);
  EXPECT_EQ(again.repeats[0].fits[1].report.data.hash, 7u);
  EXPECT_EQ(again.repeats[0].chosen_by->pipelines.size(), 2u);
  EXPECT_EQ(again.flips[0].neutral, 0.2);
  EXPECT_EQ(again.sensitivity[0].about, Sensitivity::kAceBins);
  EXPECT_EQ(again.sensitivity[0].intervals[0].lower, 0.05);
  EXPECT_EQ(again.shifts[0].statistics.units, study.statistics.units);
  EXPECT_EQ(again.failures[0].reason, "no");
  EXPECT_EQ(again.recommendation.preserves, Preserves::kOrder);
  EXPECT_FALSE(again.recommendation.translation_invariant);
  EXPECT_EQ(again.recommendation.candidates[1].standard_error, 0.125);
  EXPECT_EQ(again.recommendation.commands, study.recommendation.commands);
}

TEST(StudyJson, ReadsStrictly) {
  // Large parts are read by readers with tests of their own.
  Study study = SmallStudy({"nll"});
  study.repeats[0].chosen_by.reset();
  study.shifts.clear();
  testing::ExpectStrict(study,
                        StudyFromJson,
                        "segcal_study",
                        {"/protocol",
                         "/protocol/select",
                         "/pipelines/0/preserves",
                         "/flips/0/neutral",
                         "/sensitivity/0/value",
                         "/failures/0/stage",
                         "/recommendation/candidates/0/within",
                         "/repeats/0/fits/0/model",
                         "/repeats/0/seed"});
}

TEST(StudyJson, RefusesListsOfOtherPipelines) {
  for (const char* place : {"/flips/0/pipeline",
                            "/repeats/0/fits/1/pipeline",
                            "/repeats/0/result/pipelines/0/pipeline",
                            "/recommendation/candidates/0/pipeline",
                            "/shifts/0/statistics/pipelines/0/pipeline"}) {
    SCOPED_TRACE(place);
    Json json = ParseJson(ToJson(SmallStudy()), "text");
    json[Json::json_pointer(place)] = "ms(z)";
    ExpectError(ErrorCode::kBadData, {"file: ", "other pipelines"}, [&] {
      StudyFromJson(DumpJson(json), "file");
    });
  }
  Json json = ParseJson(ToJson(SmallStudy()), "text");
  json["repeats"] = Json::array();
  ExpectError(
      ErrorCode::kBadData, {"file: no repeat"}, [&] { StudyFromJson(DumpJson(json), "file"); });
}

TEST(StudyRunJson, ReadsBackAndStrictly) {
  const StudyRun run{.dataset = "data/dataset.json",
                     .shifts = {{"strong", "b.json"}, {"mild", "a.json"}},
                     .command = "segcal compare data"};
  const StudyRun again = StudyRunFromJson(ToJson(run));
  EXPECT_EQ(ToJson(again), ToJson(run));
  EXPECT_EQ(again.shifts, run.shifts);
  Json json = ParseJson(ToJson(run), "text");
  json["shifts"]["mild"] = 3;
  ExpectError(ErrorCode::kBadData, {"run.json: shifts", "mild"}, [&] {
    StudyRunFromJson(DumpJson(json), "run.json");
  });
}

TEST(StudyCsv, HasARowPerRepeatPipelineAndCase) {
  Study study = SmallStudy();
  study.repeats.push_back(study.repeats[0]);
  const std::string text = CasesCsv(study);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 2 * 3);
  EXPECT_EQ(text.substr(0, 32), "repeat,pipeline,level,case,group");
  EXPECT_NE(text.find("\n1,none(z),case,"), std::string::npos);
}

}  // namespace
}  // namespace segcal
