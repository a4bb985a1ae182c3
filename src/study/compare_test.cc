// SPDX-License-Identifier: Apache-2.0
#include "segcal/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/file.h"
#include "segcal/fit.h"
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

Scene StudyScene() {
  return RandomScene({.num_cases = 9, .num_members = 2, .num_classes = 3, .shape = {13, 11}});
}

CompareOptions SmallOptions() {
  CompareOptions options;
  options.pipelines = {"ts(z)", "ts(p)", "ms(z)", "ms_c(z)"};
  options.repeats = 2;
  options.split = {4, 2, 3};
  options.search = 3;
  options.replicates = 50;
  options.families = {"nll", "ece", "ba_ece", "dsc", "flip_rate"};
  options.run.threads = 2;
  return options;
}

std::vector<std::string> Names(const Study& study) {
  std::vector<std::string> names;
  for (const StudyPipeline& pipeline : study.pipelines) names.push_back(pipeline.pipeline);
  return names;
}

// Every file below a folder but its units and timings.
std::map<std::string, std::string> Contents(const TempFolder& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    const std::string path = entry.path().lexically_relative(folder.path()).string();
    if (!entry.is_regular_file() || path.starts_with("units") || path == "timing.json") continue;
    contents[path] = ReadText(entry.path().string(), 1 << 28);
  }
  return contents;
}

TEST(Compare, RunsTheWholeProtocol) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  const Study study = Compare(dataset, SmallOptions());
  EXPECT_EQ(Names(study),
            (std::vector<std::string>{
                "none(z0)", "none(p)", "none(z)", "ts(z)", "ts(p)", "ms(z)", "ms_c(z)"}));
  ASSERT_EQ(study.repeats.size(), 2u);
  EXPECT_NE(study.repeats[0].test, study.repeats[1].test);
  for (const StudyRepeat& repeat : study.repeats) {
    EXPECT_EQ(repeat.calibration.size(), 4u);
    EXPECT_EQ(repeat.result.pipelines[3].cases.size(), 3u);
    EXPECT_EQ(repeat.chosen_by->pipelines[3].cases.size(), 2u);
    EXPECT_EQ(repeat.fits[5].report.search.trials.size(), 3u);
    EXPECT_EQ(repeat.fits[5].report.search.select, Selection::kValidation);
    EXPECT_NE(repeat.fits[5].fitted, repeat.fits[5].pipeline);
  }
  // Labels were drawn at half the logits: every calibrator gains.
  EXPECT_LT(FindValue(study.repeats[0].result.pipelines[3].mean, "nll"),
            FindValue(study.repeats[0].result.pipelines[2].mean, "nll"));
  EXPECT_EQ(study.statistics.repeats, 2);
  ASSERT_EQ(study.statistics.pairs.size(), 2u);
  EXPECT_EQ(study.statistics.pairs[0].pair.second, "ms_c(z)");
  EXPECT_EQ(study.statistics.pairs[1].pair.second, "ts(p)");
  EXPECT_EQ(study.flips[3].flips, 0.0);
  EXPECT_NEAR(study.flips[5].flips,
              study.flips[5].harmful + study.flips[5].beneficial + study.flips[5].neutral,
              1e-9);
  EXPECT_TRUE(study.recommendation.pipeline == "ts(z)" || study.recommendation.pipeline == "ts(p)");
  EXPECT_TRUE(study.failures.empty());
  EXPECT_EQ(ToJson(StudyFromJson(ToJson(study))), ToJson(study));
}

TEST(Compare, IsTheSameForAnyNumberOfThreadsAndFromMemory) {
  const TempFolder data;
  const Scene scene = StudyScene();
  const Dataset dataset = WriteScene(scene, data.path());
  CompareOptions options = SmallOptions();
  const std::string study = ToJson(Compare(dataset, options));
  for (const int threads : {1, 3}) {
    options.run.threads = threads;
    EXPECT_EQ(ToJson(Compare(dataset, options)), study);
  }
  Dataset memory = scene.InMemory();
  memory.name = dataset.name;
  EXPECT_EQ(ToJson(Compare(memory, options)), study);
}

// What fits of a repeat share must not change them.
TEST(Compare, FitsAsFitDoes) {
  const TempFolder data;
  const TempFolder folder;
  Dataset dataset = WriteScene(StudyScene(), data.path());
  CompareOptions options = SmallOptions();
  options.folder = folder.path();
  const Study study = Compare(dataset, options);
  for (size_t r = 0; r < 2; ++r) {
    const StudyRepeat& repeat = study.repeats[r];
    const auto in = [](const std::vector<std::string>& ids, const std::string& id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    for (Case& c : dataset.cases) {
      c.split = in(repeat.calibration, c.id)  ? "calibration"
                : in(repeat.validation, c.id) ? "validation"
                                              : "test";
    }
    for (size_t p = 3; p < study.pipelines.size(); ++p) {
      FitOptions alone;
      alone.search = 3;
      alone.seed = repeat.seed;
      alone.select = Selection::kValidation;
      EXPECT_EQ(ReadText(folder.File(repeat.fits[p].model), 1 << 28),
                Fit(dataset, study.pipelines[p].pipeline, alone).model.ToJson());
    }
  }
}

TEST(Compare, GoesOnAfterItWasStoppedToTheSameBytes) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  const TempFolder whole;
  CompareOptions options = SmallOptions();
  options.folder = whole.path();
  const std::string expected = ToJson(Compare(dataset, options));
  const TempFolder folder;
  options.folder = folder.path();
  options.resume = true;
  int stops = 0;
  // How often progress is told depends on the time it takes, so patience begins with little.
  for (int64_t patience = 2;; patience = patience * 3 / 2) {
    int64_t calls = 0;
    options.run.progress = [&](const Progress&) { return ++calls < patience; };
    try {
      EXPECT_EQ(ToJson(Compare(dataset, options)), expected);
      break;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
      ++stops;
    }
  }
  EXPECT_GT(stops, 0);
  EXPECT_EQ(Contents(folder), Contents(whole));
}

TEST(Compare, AddsAPipelineWithoutDoingTheOthersAgain) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  const TempFolder folder;
  CompareOptions options = SmallOptions();
  options.folder = folder.path();
  Compare(dataset, options);
  options.resume = true;
  options.pipelines.emplace_back("ets(z)");
  std::vector<std::string> stages;
  options.run.progress = ListenOnly([&](const Progress& progress) {
    if (stages.empty() || stages.back() != progress.stage) stages.push_back(progress.stage);
  });
  const Study study = Compare(dataset, options);
  EXPECT_EQ(study.pipelines.back().pipeline, "ets(z)");
  for (const std::string& stage : stages)
    EXPECT_EQ(stage.find("fit ms"), std::string::npos) << stage;
  CompareOptions afresh = options;
  const TempFolder other;
  afresh.folder = other.path();
  afresh.run.progress = {};
  EXPECT_EQ(ToJson(Compare(dataset, afresh)), ToJson(study));
}

TEST(Compare, ReportsWhatFailsAndGoesOn) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  CompareOptions options = SmallOptions();
  options.pipelines = {"ts(z)", "lts_image(z)"};  // there are no images
  const Study study = Compare(dataset, options);
  EXPECT_EQ(study.pipelines.back().pipeline, "ts(z)");
  ASSERT_EQ(study.failures.size(), 2u);
  EXPECT_EQ(study.failures[1].repeat, 1);
  EXPECT_EQ(study.failures[1].pipeline, "lts_image(z)");
  EXPECT_NE(study.failures[1].reason.find("no image"), std::string::npos);
}

// What fails beside others is tried once more alone, with all the memory: what is told does not
// depend on what went on beside it.
TEST(Compare, ReportsTheSameFailuresForAnyNumberOfThreads) {
  const TempFolder data;
  const Dataset dataset = WriteScene(
      RandomScene({.num_cases = 6, .num_members = 1, .num_classes = 30, .shape = {4, 4}}),
      data.path());
  CompareOptions options = SmallOptions();
  options.pipelines = {"ts(z)", "cdc(z)", "ets(z)"};
  options.split = {2, 2, 2};
  options.search = 0;
  options.run.memory = int64_t{512} << 20;  // cdc needs 888 MiB for its curvature
  std::string first;
  for (const int threads : {1, 3}) {
    options.run.threads = threads;
    const Study study = Compare(dataset, options);
    ASSERT_EQ(study.failures.size(), 2u);
    EXPECT_EQ(study.failures[0].pipeline, "cdc(z)");
    EXPECT_NE(study.failures[0].reason.find("half of option memory is 256 MiB"), std::string::npos)
        << study.failures[0].reason;
    EXPECT_EQ(study.pipelines.back().pipeline, "ets(z)");
    if (first.empty()) first = ToJson(study);
    EXPECT_EQ(ToJson(study), first);
  }
}

TEST(Compare, ReportsABadCaseByItsNameInTheDataSet) {
  const TempFolder data;
  Dataset dataset = WriteScene(StudyScene(), data.path());
  CompareOptions options = SmallOptions();
  const std::string bad = dataset.cases[4].members[0].path();
  std::filesystem::resize_file(std::filesystem::path(data.path()) / bad, 200);
  ExpectError(ErrorCode::kBadData, {bad}, [&] { Compare(dataset, options); });
  options.run.skip_bad = true;
  options.split = {0.4, 0.2, 0.4};
  const Study study = Compare(dataset, options);
  ASSERT_FALSE(study.warnings.empty());
  EXPECT_NE(study.warnings[0].find(dataset.cases[4].id), std::string::npos);
}

TEST(Compare, VariesWhatItIsAskedTo) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  CompareOptions options = SmallOptions();
  options.pipelines = {"ts(z)"};
  options.calibration_cases = {1, 4};
  options.ece_bins = {5, 50};
  options.members = {1};
  options.shifts = {{"same", dataset}};
  const Study study = Compare(dataset, options);
  const auto find = [&](Sensitivity about, double value, const std::string& metric) {
    for (const SensitivityPoint& point : study.sensitivity) {
      if (point.about != about || point.value != value || point.pipeline != "ts(z)") continue;
      for (const MetricInterval& interval : point.intervals) {
        if (interval.metric == metric) return interval.estimate;
      }
    }
    return std::nan("");
  };
  const auto whole = [&](const std::string& metric) {
    for (const MetricInterval& interval : study.statistics.pipelines[3].intervals) {
      if (interval.metric == metric) return interval.estimate;
    }
    return std::nan("");
  };
  // All cases, and the default of 50 bins, are the study itself.
  EXPECT_EQ(find(Sensitivity::kCalibrationCases, 4, "nll"), whole("nll"));
  EXPECT_EQ(find(Sensitivity::kEceBins, 50, "ece"), whole("ece"));
  EXPECT_NE(find(Sensitivity::kCalibrationCases, 1, "nll"), whole("nll"));
  EXPECT_LT(find(Sensitivity::kEceBins, 5, "ece"), whole("ece"));
  EXPECT_NE(find(Sensitivity::kMembers, 1, "nll"), whole("nll"));
  ASSERT_EQ(study.shifts.size(), 1u);
  EXPECT_EQ(study.shifts[0].repeats[1].pipelines[3].cases.size(), 9u);
}

TEST(Compare, RunsThePapersObjectiveBesideOurs) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  CompareOptions options = SmallOptions();
  options.pipelines = {"ts(z)", "ms_c(z)"};
  options.paper_objective = true;
  const Study study = Compare(dataset, options);
  EXPECT_EQ(study.pipelines.back().pipeline, "ms_c(z, kappa=0, penalty=paper)");
  EXPECT_NE(study.repeats[0].fits.back().report.nll_after,
            study.repeats[0].fits[4].report.nll_after);
  // And are compared.
  ASSERT_EQ(study.statistics.pairs.size(), 1u);
  EXPECT_EQ(study.statistics.pairs[0].pair.first, "ms_c(z)");
  EXPECT_EQ(study.statistics.pairs[0].pair.second, "ms_c(z, kappa=0, penalty=paper)");
  EXPECT_EQ(study.statistics.pairs[0].pair.family, "the main paper's objective");
}

TEST(Compare, ChecksItsArgumentsBeforeTheWork) {
  const TempFolder data;
  const Dataset dataset = WriteScene(StudyScene(), data.path());
  const auto fails = [&](const std::vector<std::string>& parts,
                         const std::function<void(CompareOptions*)>& change) {
    CompareOptions options = SmallOptions();
    change(&options);
    ExpectError(ErrorCode::kInvalidArgument, parts, [&] { Compare(dataset, options); });
  };
  fails({"pair ts(z)=dc(z)", "dc(z) is none of the study's pipelines"}, [](CompareOptions* o) {
    o->pairs = {{"ts(z)", "dc(z)"}};
  });
  fails({"tz"}, [](CompareOptions* o) { o->pipelines = {"tz(z)"}; });
  fails({"score"}, [](CompareOptions* o) { o->recommend.score = "dsc"; });
  fails({"nonsense"}, [](CompareOptions* o) { o->families = {"nonsense"}; });
}

TEST(FitAuto, ChoosesATemperatureWhereThatIsWhatIsWrong) {
  const TempFolder data;
  const Dataset dataset = WriteScene(
      RandomScene({.num_cases = 12, .num_members = 1, .num_classes = 3, .shape = {40, 40}}),
      data.path());
  const AutoResult result = FitAuto(dataset, {});
  EXPECT_EQ(result.model.pipeline(), "ts(z)");
  EXPECT_EQ(result.model.report().data.cases, 12);  // all of them in the end
  EXPECT_NEAR(*result.model.inverse_temperature(), 0.5, 0.05);
  EXPECT_EQ(result.recommendation.candidates.size(), 5u);
}

}  // namespace
}  // namespace segcal
