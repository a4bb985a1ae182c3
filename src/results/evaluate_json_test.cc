// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "results/round_trip_for_test.h"
#include "segcal/evaluate.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {

auto Fields(const MetricValue& x) {
  const auto& [name, value, per_class] = x;
  return std::tie(name, value, per_class);
}
auto Fields(const DiagramColumn& x) {
  const auto& [name, count] = x;
  return std::tie(name, count);
}
auto Fields(const Diagram& x) {
  const auto& [kind, about, class_index, columns, rows] = x;
  return std::tie(kind, about, class_index, columns, rows);
}
auto Fields(const CellRow& x) {
  const auto& [kind, class_index, band, lower, upper, count, correct, confidence_sum] = x;
  return std::tie(kind, class_index, band, lower, upper, count, correct, confidence_sum);
}
auto Fields(const CaseMetrics& x) {
  const auto& [id, group, metrics, cells, pooled_bins] = x;
  return std::tie(id, group, metrics, cells, pooled_bins);
}
auto Fields(const GroupMetrics& x) {
  const auto& [group, cases, mean, pooled] = x;
  return std::tie(group, cases, mean, pooled);
}
auto Fields(const Properties& x) {
  const auto& [translation_invariant, preserves] = x;
  return std::tie(translation_invariant, preserves);
}
auto Fields(const PipelineMetrics& x) {
  const auto& [pipeline, properties, mean, pooled, cases, groups, group_mean, diagrams] = x;
  return std::tie(pipeline, properties, mean, pooled, cases, groups, group_mean, diagrams);
}
auto Fields(const PipelinePair& x) {
  const auto& [first, second, family] = x;
  return std::tie(first, second, family);
}
auto Fields(const StatisticsOptions& x) {
  const auto& [metrics, reference, pairs, test, replicates, level, seed, threads] = x;
  return std::tie(metrics, reference, pairs, test, replicates, level, seed, threads);
}
auto Fields(const MetricInterval& x) {
  const auto& [metric, estimate, lower, upper] = x;
  return std::tie(metric, estimate, lower, upper);
}
auto Fields(const MetricComparison& x) {
  const auto& [difference, p, p_adjusted, better, worse, equal_by_construction] = x;
  return std::tie(difference, p, p_adjusted, better, worse, equal_by_construction);
}
auto Fields(const PairStatistics& x) {
  const auto& [pair, comparisons] = x;
  return std::tie(pair, comparisons);
}
auto Fields(const PipelineStatistics& x) {
  const auto& [pipeline, intervals, comparisons, sum_rank, mean_case_rank] = x;
  return std::tie(pipeline, intervals, comparisons, sum_rank, mean_case_rank);
}
auto Fields(const Statistics& x) {
  const auto& [options, unit, repeats, units, pipelines, pairs, ranked] = x;
  return std::tie(options, unit, repeats, units, pipelines, pairs, ranked);
}
auto Fields(const EvaluateResult& x) {
  const auto& [dataset,
               split,
               classes,
               voxels,
               labelled,
               renormalised,
               pipelines,
               skipped,
               warnings,
               statistics] = x;
  return std::tie(dataset,
                  split,
                  classes,
                  voxels,
                  labelled,
                  renormalised,
                  pipelines,
                  skipped,
                  warnings,
                  statistics);
}

namespace {

using testing::ExpectRoundTrip;
using testing::ExpectStrict;
using testing::RandomScene;
using testing::Scene;

// Four cases in two groups and alone, one of them without a labelled voxel; class 3 does not occur.
Scene GroupedScene() {
  Scene scene =
      RandomScene({.num_cases = 4, .num_members = 2, .num_classes = 4, .shape = {12, 13}});
  for (auto& labels : scene.labels) {
    for (int32_t& label : labels) label = label == 3 ? 255 : label;
  }
  for (int32_t& label : scene.labels[3]) label = 255;
  scene.dataset.name = "grouped, \"quoted\"";
  scene.dataset.cases[0].group = scene.dataset.cases[1].group = "patient";
  return scene;
}

// Everything there is to compute, or some families.
EvaluateResult EvaluateAll(const Scene& scene, std::vector<std::string> families = {"all"}) {
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  EvaluateOptions options;
  options.families = std::move(families);
  options.metrics = {{"local", {{"patch", "6"}, {"patch_sweep", "4,8"}}}};
  options.keep_cells = true;
  EvaluateResult result = Evaluate(
      dataset, {Baseline(dataset, "none(p)"), testing::TemperatureModel(dataset, 0.5)}, options);
  result.statistics = ComputeStatistics(
      {&result, 1}, {.pairs = {{"none(p)", "ts(z)", "matched"}}, .seed = UINT64_MAX, .threads = 2});
  return result;
}

TEST(EvaluateJson, ReadsBackARealEvaluationOfEverything) {
  const EvaluateResult result = EvaluateAll(GroupedScene());
  ExpectRoundTrip(result, EvaluateResultFromJson);
  // The scene is such that nothing below is empty, so that something is read back.
  const PipelineMetrics& pipeline = result.pipelines[1];
  EXPECT_EQ(pipeline.groups.size(), 3u);
  EXPECT_TRUE(std::isnan(FindValue(pipeline.cases[3].metrics, "nll")));
  EXPECT_EQ(pipeline.cases[0].pooled_bins.size(), 1u);
  EXPECT_FALSE(pipeline.cases[0].cells.empty());
  EXPECT_FALSE(FindMetric(pipeline.group_mean, "dsc")->per_class.empty());
  for (const DiagramKind kind : {DiagramKind::kReliability,
                                 DiagramKind::kConfusion,
                                 DiagramKind::kRiskCoverage,
                                 DiagramKind::kPatchSweep})
    EXPECT_NE(FindDiagram(pipeline.diagrams, kind), nullptr) << Name(kind);
  for (const char* about : {"boundary", "distance_0_3", "local_avg"})
    EXPECT_NE(FindDiagram(pipeline.diagrams, DiagramKind::kReliability, about), nullptr) << about;
  for (const char* about : {"predicted", "one_vs_rest"})
    EXPECT_NE(FindDiagram(pipeline.diagrams, DiagramKind::kReliability, about, 2), nullptr);
}

TEST(EvaluateJson, StatisticsOfWhatWasReadAreTheSame) {
  const EvaluateResult result = EvaluateAll(GroupedScene());
  const EvaluateResult again = EvaluateResultFromJson(ToJson(result));
  EXPECT_EQ(ToJson(ComputeStatistics({&again, 1}, {.replicates = 100})),
            ToJson(ComputeStatistics({&result, 1}, {.replicates = 100})));
}

TEST(EvaluateJson, ReadsBackWhateverAFieldHolds) {
  ExpectRoundTrip(EvaluateResult{}, EvaluateResultFromJson);
  EvaluateResult result = EvaluateAll(GroupedScene());
  result.split = "test";
  result.voxels = INT64_MAX;
  result.renormalised = 3;
  result.skipped = {"0007"};
  result.warnings = {"one", "two"};
  result.pipelines[0].cases[0].cells[0].upper = HUGE_VAL;  // as of the last cell of a case
  result.pipelines[0].mean[0].value = -HUGE_VAL;
  result.pipelines[0].mean[0].per_class = {std::nan(""), HUGE_VAL, -0.0, 5e-324};
  ExpectRoundTrip(result, EvaluateResultFromJson);
}

// Reasons hold paths of one machine.
TEST(EvaluateJson, KeepsTheCasesThatWereSkippedWithoutTheReasons) {
  EvaluateResult result;
  result.skipped = {"0007: 0007.npy: truncated"};
  EXPECT_EQ(EvaluateResultFromJson(ToJson(result)).skipped, std::vector<std::string>{"0007"});
}

TEST(EvaluateJson, ReadsFilesOfVersion01) {
  const EvaluateResult result = EvaluateAll(GroupedScene());
  Json json = ParseJson(ToJson(result), "text");
  json.erase("warnings");
  for (const char* field : {"test", "ranked", "pairs"}) json["statistics"].erase(field);
  for (Json& pipeline : json["statistics"]["pipelines"]) {
    for (Json& comparison : pipeline["comparisons"]) {
      for (const char* field : {"better", "worse", "equal_by_construction"})
        comparison.erase(field);
    }
  }
  for (Json& pipeline : json["pipelines"]) {
    pipeline.erase("group_mean_per_class");
    pipeline.erase("properties");
    for (Json& c : pipeline["metric_per_case"]) {
      c.erase("pooled_bins");
      c.erase("cells");
    }
  }
  const EvaluateResult read = EvaluateResultFromJson(DumpJson(json));
  EXPECT_TRUE(testing::Same(read.pipelines[1].mean, result.pipelines[1].mean));
  EXPECT_TRUE(testing::Same(read.pipelines[1].diagrams, result.pipelines[1].diagrams));
  EXPECT_TRUE(read.pipelines[1].cases[0].pooled_bins.empty());
  EXPECT_EQ(read.pipelines[1].properties.preserves, Preserves::kNone);
  EXPECT_EQ(read.statistics->options.test, RankTest::kMannWhitney);
  EXPECT_EQ(read.statistics->ranked, read.statistics->options.metrics);
}

TEST(EvaluateJson, RefusesAnythingElse) {
  Scene scene = RandomScene({.num_cases = 2, .num_classes = 2, .shape = {5, 4}});
  scene.dataset.cases[0].group = "patient";
  // A field is made wrong at a time: as few as show every part of the file.
  ExpectStrict(EvaluateAll(scene, {"calibration_error", "selection", "overlap", "local"}),
               EvaluateResultFromJson,
               "segcal_metrics",
               {"/dataset",
                "/classes",
                "/voxels",
                "/pipelines",
                "/pipelines/0/mean",
                "/pipelines/0/pooled_per_class",
                "/pipelines/0/groups/0/mean",
                "/pipelines/0/metric_per_case/0/metrics",
                "/pipelines/0/metric_per_case/0/pooled_bins/ace/count",
                "/pipelines/0/metric_per_case/0/cells/upper",
                "/pipelines/0/confusion",
                "/pipelines/0/risk_coverage/0/risk",
                "/pipelines/0/patch_sweep/0/patch",
                "/pipelines/0/reliability/0/count",
                "/pipelines/0/reliability_per_region",
                "/statistics/unit",
                "/statistics/seed",
                "/statistics/pipelines/1/intervals/ece/lower",
                "/statistics/pipelines/1/comparisons/ece/p",
                "/statistics/pairs/0/first",
                "/statistics/pairs/0/comparisons/ece/p",
                "/pipelines/0/properties/preserves",
                "/skipped"});
}

struct Refused {
  const char* what;
  const char* place;
  Json value;
  const char* message;
};

// Of the right type, and yet not a result.
TEST(EvaluateJson, RefusesPartsThatDoNotFitEachOther) {
  const Json good = ParseJson(
      ToJson(EvaluateAll(RandomScene({.num_cases = 2, .num_classes = 2, .shape = {5, 4}}))),
      "text");
  const std::vector<Refused> refusals = {
      {"a row too short", "/pipelines/0/confusion/1", Json({1}), "confusion[1]: 2 whole numbers"},
      {"a count that is none", "/pipelines/0/confusion/0/0", 0.5, "confusion[0]: 2 whole numbers"},
      {"columns of several lengths",
       "/pipelines/0/metric_per_case/0/pooled_bins/ace/count",
       Json({1, 2}),
       "columns of"},
      {"a class that is none",
       "/pipelines/0/reliability_per_class/predicted/sky",
       Json::array(),
       "unknown field \"sky\""},
      {"values of classes of no metric",
       "/pipelines/0/mean_per_class/joy",
       Json({1.0}),
       "unknown field \"joy\""},
      {"other pipelines", "/statistics/pipelines/0/pipeline", "ts(z)", "statistics of other"},
      {"a metric that only one list has", "/pipelines/1/mean/joy", 1.0, "must name the same"},
      {"too few values per class", "/pipelines/0/mean_per_class/dsc", Json({1.0}), "2 classes"},
      {"a cell of no class",
       "/pipelines/0/metric_per_case/0/cells/class/0",
       7,
       "class 7; one in [0, 2)"},
  };
  for (const Refused& refused : refusals) {
    SCOPED_TRACE(refused.what);
    Json bad = good;
    bad[Json::json_pointer(refused.place)] = refused.value;
    testing::ExpectError(ErrorCode::kBadData, {"the file: ", refused.message}, [&] {
      EvaluateResultFromJson(DumpJson(bad), "the file");
    });
  }
}

TEST(StatisticsJson, ReadsBackAlone) {
  const EvaluateResult result = EvaluateAll(GroupedScene());
  ExpectRoundTrip(*result.statistics, StatisticsFromJson);
  ExpectRoundTrip(Statistics{}, StatisticsFromJson);
  const Scene scene = RandomScene({.num_cases = 2, .num_classes = 2, .shape = {5, 4}});
  ExpectStrict(*EvaluateAll(scene, {"overlap"}).statistics,
               StatisticsFromJson,
               "segcal_statistics",
               {"/units", "/level"});
}

}  // namespace
}  // namespace segcal
