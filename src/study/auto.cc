// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/progress.h"
#include "core/throw.h"
#include "pipeline/compatible.h"
#include "pipeline/run.h"
#include "pipeline/spec.h"
#include "segcal/compare.h"
#include "study/plan.h"
#include "study/recommend.h"
#include "study/unit_runner.h"

namespace segcal {
namespace {

// Few, and none that is trained: minutes at most.
std::vector<std::string> AutoCandidates(int64_t num_members) {
  std::vector<std::string> candidates;
  for (const char* method : {"none", "ts", "ets", "cms_op", "cms_ap"}) {
    candidates.push_back(std::string(method) + "(z)");
    if (num_members > 1) candidates.push_back(std::string(method) + "(p)");
  }
  return candidates;
}

bool HasSplit(const Dataset& dataset, const std::string& split) {
  return std::any_of(
      dataset.cases.begin(), dataset.cases.end(), [&](const Case& c) { return c.split == split; });
}

// The cases to fit on and to choose by.
Partition AutoPartition(const Dataset& dataset, const FitOptions& options) {
  const bool named = std::any_of(
      dataset.cases.begin(), dataset.cases.end(), [](const Case& c) { return !c.split.empty(); });
  const std::string fitted = options.split.empty() && named ? "calibration" : options.split;
  Partition partition{.seed = options.seed};
  partition.calibration = fitted.empty() ? dataset : SelectSplit(dataset, fitted);
  const std::string chosen_by = options.validation.empty() ? "validation" : options.validation;
  if (fitted != chosen_by && (HasSplit(dataset, chosen_by) || !options.validation.empty())) {
    partition.validation = SelectSplit(dataset, chosen_by);
    return partition;
  }
  if (CountGroups(partition.calibration) < 2) {
    Throw(
        ErrorCode::kInvalidArgument,
        "auto: {} cases of one group; a second group, or validation cases, are required to choose "
        "by",
        partition.calibration.cases.size());
  }
  Dataset divided = partition.calibration;
  AssignSplits(&divided, {{"calibration", 2.0}, {"validation", 1.0}}, options.seed);
  partition.calibration = SelectSplit(divided, "calibration");
  partition.validation = SelectSplit(divided, "validation");
  return partition;
}

// All of these cases to fit on, none to choose by.
Partition Together(const Partition& partition) {
  Partition together = partition;
  together.calibration.cases.insert(together.calibration.cases.end(),
                                    partition.validation.cases.begin(),
                                    partition.validation.cases.end());
  together.validation.cases.clear();
  return together;
}

Model FitChosenOn(const Partition& partition, const std::string& pipeline, UnitRunner* runner) {
  const FittedModels fitted = runner->Fit(partition, {pipeline}, 0, "chosen");
  if (!fitted.models[0])
    Throw(ErrorCode::kBadData, "auto: {}: {}", pipeline, runner->failures().back().reason);
  return *fitted.models[0];
}

}  // namespace

AutoResult FitAuto(const Dataset& dataset,
                   const FitOptions& options,
                   const RecommendOptions& recommend) {
  CheckDataset(dataset, DatasetTitle(dataset));
  if (dataset.cases.empty()) Throw(ErrorCode::kBadData, "auto: the data set has no cases");
  const Partition partition = AutoPartition(dataset, options);
  const auto num_members = static_cast<int64_t>(dataset.cases.front().members.size());
  const std::vector<std::string> pipelines = AutoCandidates(num_members);
  CompareOptions study{.run = options.run, .seed = options.seed, .search = options.search};
  study.run.progress = {};
  const UnitStore store("", false);
  const auto fits = std::count_if(pipelines.begin(), pipelines.end(), NeedsFit);
  UnitProgress progress(options.run.progress,
                        static_cast<int64_t>(pipelines.size()) + static_cast<int64_t>(fits) + 1);
  const ProgressScope scope(progress.Listener());
  UnitRunner runner(study, store, &progress);
  const FittedModels fitted = runner.Fit(partition, pipelines, 0, "candidates");
  EvaluateOptions evaluation;
  evaluation.run = study.run;
  evaluation.families = {"nll", "ece", "ba_ece"};
  const auto results = runner.Evaluate(fitted, partition.validation, evaluation, 0, "candidates");
  std::vector<StudyPipeline> described;
  std::vector<EvaluateResult> single;
  for (size_t p = 0; p < pipelines.size(); ++p) {
    if (!results[p]) continue;
    described.push_back(Describe(*fitted.models[p], pipelines[p]));
    single.push_back(*results[p]);
  }
  if (single.empty()) Throw(ErrorCode::kBadData, "auto: {}", runner.failures().front().reason);
  const EvaluateResult joined = JoinPipelines(single);
  Recommendation found = Recommend(described, {&joined}, num_members, recommend);
  if (found.pipeline.empty())
    Throw(ErrorCode::kInvalidArgument, "auto: no candidate satisfies what is required");
  study.search = options.search.value_or(kStudyTrials);
  Model model = FitChosenOn(Together(partition), found.pipeline, &runner);
  return {.model = std::move(model), .recommendation = std::move(found)};
}

}  // namespace segcal
