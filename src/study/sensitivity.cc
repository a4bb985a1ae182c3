// SPDX-License-Identifier: Apache-2.0
#include "study/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace segcal {
namespace {

// One value of one thing that is varied: other cases to fit on, other members, or other bins.
struct Variation {
  Sensitivity about;
  int64_t value;
};

std::vector<Variation> Variations(const CompareOptions& options) {
  std::vector<Variation> variations;
  const auto add = [&](Sensitivity about, const std::vector<int64_t>& values) {
    for (const int64_t value : values) variations.push_back({about, value});
  };
  add(Sensitivity::kCalibrationCases, options.calibration_cases);
  add(Sensitivity::kEceBins, options.ece_bins);
  add(Sensitivity::kAceBins, options.ace_bins);
  add(Sensitivity::kMembers, options.members);
  return variations;
}

bool Refits(Sensitivity about) {
  return about == Sensitivity::kCalibrationCases || about == Sensitivity::kMembers;
}

Dataset FirstMembers(Dataset dataset, int64_t count) {
  for (Case& c : dataset.cases) {
    if (static_cast<int64_t>(c.members.size()) > count)
      c.members.resize(static_cast<size_t>(count));
  }
  return dataset;
}

Partition Varied(const Partition& partition, const Variation& variation) {
  Partition varied = partition;
  if (variation.about == Sensitivity::kCalibrationCases)
    varied.calibration = FirstGroups(partition.calibration, variation.value, partition.seed);
  if (variation.about == Sensitivity::kMembers) {
    for (Dataset* part : {&varied.calibration, &varied.validation, &varied.test})
      *part = FirstMembers(*part, variation.value);
  }
  return varied;
}

EvaluateOptions Varied(const EvaluateOptions& on_test, const Variation& variation) {
  EvaluateOptions varied = on_test;
  varied.families = {"nll", "ece", "ba_ece", "dsc"};
  varied.metrics.clear();
  const std::string count = fmt::format("{}", variation.value);
  if (!Refits(variation.about)) varied.families = {"ece"};
  if (variation.about == Sensitivity::kEceBins) varied.metrics["calibration_error"]["bins"] = count;
  if (variation.about == Sensitivity::kAceBins)
    varied.metrics["calibration_error"]["ace_bins"] = count;
  return varied;
}

// The metrics whose change is of interest.
std::vector<std::string> Shown(Sensitivity about) {
  if (about == Sensitivity::kEceBins) return {"ece"};
  if (about == Sensitivity::kAceBins) return {"ace"};
  return {"nll", "brier", "ece", "ace", "ba_ece", "dsc"};
}

std::vector<SensitivityPoint> PointsOf(const Variation& variation,
                                       const std::vector<EvaluateResult>& repeats,
                                       const CompareOptions& options) {
  StatisticsOptions statistics;
  statistics.metrics = Shown(variation.about);
  statistics.replicates = options.replicates;
  statistics.level = options.level;
  statistics.seed = options.seed;
  statistics.threads = options.run.threads;
  std::vector<SensitivityPoint> points;
  for (const PipelineStatistics& pipeline : ComputeStatistics(repeats, statistics).pipelines) {
    SensitivityPoint& point =
        points.emplace_back(SensitivityPoint{.about = variation.about,
                                             .value = static_cast<double>(variation.value),
                                             .pipeline = pipeline.pipeline});
    for (const MetricInterval& interval : pipeline.intervals) {
      const auto& shown = statistics.metrics;
      if (std::find(shown.begin(), shown.end(), interval.metric) != shown.end())
        point.intervals.push_back(interval);
    }
  }
  return points;
}

// One result per pipeline; absent where it failed.
std::vector<std::optional<EvaluateResult>> RunVariation(const StudyPlan& plan,
                                                        const Variation& variation,
                                                        const FittedModels& as_they_are,
                                                        size_t repeat,
                                                        UnitRunner* runner) {
  const Partition partition = Varied(plan.partitions[repeat], variation);
  const auto number = static_cast<int64_t>(repeat);
  const std::string what =
      fmt::format("repeat {}, {} {}", repeat, Name(variation.about), variation.value);
  const FittedModels fitted = Refits(variation.about)
                                  ? runner->Fit(partition, as_they_are.pipelines, number, what)
                                  : as_they_are;
  return runner->Evaluate(fitted, partition.test, Varied(plan.on_test, variation), number, what);
}

// The pipelines at `places`; nothing where one of them failed.
std::optional<EvaluateResult> JoinPlaces(const std::vector<std::optional<EvaluateResult>>& results,
                                         const std::vector<size_t>& places) {
  std::vector<EvaluateResult> single;
  for (const size_t p : places) {
    if (!results[p]) return std::nullopt;
    single.push_back(*results[p]);
  }
  return JoinPipelines(single);
}

}  // namespace

int64_t CountSensitivityUnits(const StudyPlan& plan, const CompareOptions& options) {
  const auto pipelines = static_cast<int64_t>(plan.pipelines.size());
  const auto fits =
      static_cast<int64_t>(std::count_if(plan.pipelines.begin(), plan.pipelines.end(), NeedsFit));
  int64_t units = 0;
  for (const Variation& variation : Variations(options))
    units += pipelines + (Refits(variation.about) ? fits : 0);
  return units;
}

void RunSensitivityUnits(const StudyPlan& plan,
                         const CompareOptions& options,
                         const FittedModels& fitted,
                         size_t repeat,
                         UnitRunner* runner) {
  for (const Variation& variation : Variations(options))
    RunVariation(plan, variation, fitted, repeat, runner);
}

std::vector<SensitivityPoint> RunSensitivity(const StudyPlan& plan,
                                             const CompareOptions& options,
                                             const std::vector<const FittedModels*>& fitted,
                                             const std::vector<size_t>& places,
                                             UnitRunner* runner) {
  std::vector<SensitivityPoint> points;
  for (const Variation& variation : Variations(options)) {
    std::vector<EvaluateResult> repeats;
    for (size_t r = 0; r < plan.partitions.size(); ++r) {
      const auto result = JoinPlaces(RunVariation(plan, variation, *fitted[r], r, runner), places);
      if (result) repeats.push_back(*result);
    }
    if (repeats.size() != plan.partitions.size()) continue;
    const std::vector<SensitivityPoint> added = PointsOf(variation, repeats, options);
    points.insert(points.end(), added.begin(), added.end());
  }
  return points;
}

}  // namespace segcal
