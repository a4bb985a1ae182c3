// SPDX-License-Identifier: Apache-2.0
#include "segcal/compare.h"

#include <algorithm>
#include <filesystem>

#include "core/progress.h"
#include "core/throw.h"
#include "pipeline/compatible.h"
#include "segcal/files.h"
#include "segcal/methods.h"
#include "segcal/tables.h"
#include "segcal/version.h"
#include "study/plan.h"
#include "study/recommend.h"
#include "study/sensitivity.h"
#include "study/study_data.h"
#include "study/unit_runner.h"

namespace segcal {
namespace {

// What one repeat gave, before it is known which pipelines all repeats have.
struct RepeatUnits {
  FittedModels fitted;
  std::vector<std::optional<EvaluateResult>> on_validation;
  std::vector<std::optional<EvaluateResult>> on_test;
};

int64_t CountUnits(const StudyPlan& plan, const CompareOptions& options) {
  const auto pipelines = static_cast<int64_t>(plan.pipelines.size());
  const auto fits =
      static_cast<int64_t>(std::count_if(plan.pipelines.begin(), plan.pipelines.end(), NeedsFit));
  const auto repeats = static_cast<int64_t>(plan.partitions.size());
  const auto shifts = static_cast<int64_t>(options.shifts.size());
  return 2 + repeats * (fits + (2 + shifts) * pipelines) +
         repeats * CountSensitivityUnits(plan, options);
}

std::vector<RepeatUnits> RunRepeats(const StudyPlan& plan, UnitRunner* runner) {
  std::vector<RepeatUnits> repeats;
  for (size_t r = 0; r < plan.partitions.size(); ++r) {
    const Partition& partition = plan.partitions[r];
    const auto repeat = static_cast<int64_t>(r);
    const std::string what = fmt::format("repeat {}", r);
    RepeatUnits& units = repeats.emplace_back();
    units.fitted = runner->Fit(partition, plan.pipelines, repeat, what);
    units.on_validation = runner->Evaluate(
        units.fitted, partition.validation, plan.on_validation, repeat, what + ", validation");
    units.on_test =
        runner->Evaluate(units.fitted, partition.test, plan.on_test, repeat, what + ", test");
  }
  return repeats;
}

// The places of the pipelines of which no unit failed.
std::vector<size_t> CompletePipelines(const std::vector<RepeatUnits>& repeats,
                                      const std::vector<StudyFailure>& failures) {
  std::vector<size_t> complete;
  for (size_t p = 0; p < repeats.front().on_test.size(); ++p) {
    const bool all = std::all_of(repeats.begin(), repeats.end(), [&](const RepeatUnits& repeat) {
      return repeat.on_test[p] && repeat.on_validation[p];
    });
    if (all) complete.push_back(p);
  }
  if (complete.empty())
    Throw(ErrorCode::kBadData, "every pipeline failed; the first: {}", failures.front().reason);
  return complete;
}

EvaluateResult JoinAt(const std::vector<std::optional<EvaluateResult>>& results,
                      const std::vector<size_t>& places,
                      const char* split) {
  std::vector<EvaluateResult> chosen;
  for (const size_t p : places) chosen.push_back(*results[p]);
  EvaluateResult joined = JoinPipelines(chosen);
  joined.split = split;
  return joined;
}

std::string ModelPath(size_t repeat, const std::string& pipeline) {
  return fmt::format("models/repeat{}/{}", repeat, ModelFileName(pipeline));
}

StudyRepeat DescribeRepeat(const Partition& partition,
                           const RepeatUnits& units,
                           const std::vector<size_t>& places,
                           size_t repeat,
                           const std::string& folder) {
  StudyRepeat described{.seed = partition.seed,
                        .calibration = CaseIds(partition.calibration),
                        .validation = CaseIds(partition.validation),
                        .test = CaseIds(partition.test),
                        .chosen_by = JoinAt(units.on_validation, places, "validation"),
                        .result = JoinAt(units.on_test, places, "test")};
  for (const size_t p : places) {
    const Model& model = *units.fitted.models[p];
    const std::string& pipeline = units.fitted.pipelines[p];
    StudyFit& fit = described.fits.emplace_back(
        StudyFit{.pipeline = pipeline, .fitted = model.pipeline(), .report = model.report()});
    if (folder.empty() || !NeedsFit(pipeline)) continue;
    fit.model = ModelPath(repeat, pipeline);
    const std::string file = (std::filesystem::path(folder) / fit.model).string();
    CreateParentFolder(file);
    model.Save(file);
  }
  return described;
}

std::vector<std::string> ComparedMetrics(const EvaluateResult& result) {
  std::vector<std::string> metrics;
  for (const MetricColumn& column : MetricColumns(result, {})) metrics.push_back(column.metric);
  return metrics;
}

Statistics StatisticsOf(const std::vector<EvaluateResult>& repeats,
                        const StudyPlan& plan,
                        const CompareOptions& options) {
  std::vector<std::string> names;
  for (const PipelineMetrics& pipeline : repeats.front().pipelines)
    names.push_back(pipeline.pipeline);
  const auto known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  StatisticsOptions statistics;
  statistics.metrics = ComparedMetrics(repeats.front());
  if (known("none(z)")) statistics.reference = "none(z)";
  for (const PipelinePair& pair : plan.pairs) {
    if (known(pair.first) && known(pair.second)) statistics.pairs.push_back(pair);
  }
  statistics.replicates = options.replicates;
  statistics.level = options.level;
  statistics.seed = options.seed;
  statistics.threads = options.run.threads;
  return ComputeStatistics(repeats, statistics);
}

std::vector<EvaluateResult> TestResultsOf(const Study& study) {
  std::vector<EvaluateResult> results;
  for (const StudyRepeat& repeat : study.repeats) results.push_back(repeat.result);
  return results;
}

std::vector<FlipAudit> AuditFlips(const Study& study) {
  std::vector<FlipAudit> audits;
  const auto repeats = static_cast<double>(study.repeats.size());
  for (size_t p = 0; p < study.pipelines.size(); ++p) {
    FlipAudit& audit = audits.emplace_back(FlipAudit{.pipeline = study.pipelines[p].pipeline});
    for (const StudyRepeat& repeat : study.repeats) {
      const std::vector<MetricValue>& pooled = repeat.result.pipelines[p].pooled;
      audit.flips += FindValue(pooled, "flip_rate") / repeats;
      audit.harmful += FindValue(pooled, "flips_harmful") / repeats;
      audit.beneficial += FindValue(pooled, "flips_beneficial") / repeats;
      audit.neutral += FindValue(pooled, "flips_neutral") / repeats;
    }
  }
  return audits;
}

// A shift on which a pipeline fails is left out: its failures are told.
std::vector<StudyShift> RunShifts(const StudyPlan& plan,
                                  const CompareOptions& options,
                                  const std::vector<RepeatUnits>& repeats,
                                  const std::vector<size_t>& places,
                                  UnitRunner* runner) {
  std::vector<StudyShift> shifts;
  for (const ShiftedData& data : options.shifts) {
    StudyShift shift{.name = data.name};
    for (size_t r = 0; r < repeats.size(); ++r) {
      const auto results = runner->Evaluate(repeats[r].fitted,
                                            data.dataset,
                                            plan.on_test,
                                            static_cast<int64_t>(r),
                                            fmt::format("repeat {}, shift {}", r, data.name));
      const bool all = std::all_of(
          places.begin(), places.end(), [&](size_t p) { return results[p].has_value(); });
      if (all) shift.repeats.push_back(JoinAt(results, places, data.name.c_str()));
    }
    if (shift.repeats.size() != repeats.size()) continue;
    shift.statistics = StatisticsOf(shift.repeats, plan, options);
    shifts.push_back(std::move(shift));
  }
  return shifts;
}

void WarnOfFits(Study* study) {
  for (size_t r = 0; r < study->repeats.size(); ++r) {
    for (const StudyFit& fit : study->repeats[r].fits) {
      const FitStatus status = fit.report.status;
      if (status == FitStatus::kNotConverged || status == FitStatus::kUnbounded)
        study->warnings.push_back(
            fmt::format("repeat {}: {} ended as {}", r, fit.fitted, Name(status)));
    }
  }
  if (study->data.renormalised > 0) {
    study->warnings.push_back(
        fmt::format("{} probability rows did not sum to one within 1e-3 and were renormalised",
                    study->data.renormalised));
  }
}

// Cases to ship a model from: what the first partition does not test on, or the data set's own
// calibration and validation cases.
Partition ShippedCases(const Dataset& dataset,
                       const StudyPlan& plan,
                       const CompareOptions& options) {
  CompareOptions own = options;
  own.repeats = 1;
  own.split.clear();
  std::vector<double> split;
  const Partition partition = MakePartitions(dataset, own, &split).front();
  const Partition& source = split.empty() ? partition : plan.partitions.front();
  Partition shipped{.seed = options.seed};
  shipped.calibration = JoinCases(dataset, source.calibration, source.validation);
  shipped.validation = shipped.calibration;
  shipped.validation.cases.clear();
  return shipped;
}

// Fitted on calibration and validation cases: penalties by folds, trainings by groups they hold
// out.
void ShipRecommended(const Dataset& dataset,
                     const StudyPlan& plan,
                     CompareOptions options,
                     const UnitStore& store,
                     UnitProgress* progress,
                     Study* study) {
  Recommendation& found = study->recommendation;
  if (found.pipeline.empty()) return;
  options.search = options.search.value_or(kStudyTrials);
  UnitRunner runner(options, store, progress);
  const FittedModels shipped =
      runner.Fit(ShippedCases(dataset, plan, options), {found.pipeline}, 0, "recommended");
  study->failures.insert(study->failures.end(), runner.failures().begin(), runner.failures().end());
  if (!shipped.models[0]) return;
  if (!options.folder.empty())
    shipped.models[0]->Save((std::filesystem::path(options.folder) / "recommended.json").string());
  found.commands = RecommendedCommands("", "DATASET");
}

void WriteTimings(const UnitProgress& progress, const std::string& folder) {
  if (folder.empty()) return;
  WriteText((std::filesystem::path(folder) / "timing.json").string(), TimingsJson(progress));
}

}  // namespace

Study Compare(const Dataset& dataset, const CompareOptions& given) {
  CompareOptions options = given;
  CheckDataset(dataset, DatasetTitle(dataset));
  StudyPlan plan = MakePlan(dataset, options);
  UnitProgress progress(options.run.progress, CountUnits(plan, options));
  options.run.progress = {};
  const ProgressScope scope(progress.Listener());
  const UnitStore store = OpenUnitStore(dataset, options);
  Study study;
  const Dataset readable = ReadableStudyCases(dataset, plan, &options, &study.warnings);
  if (readable.cases.size() != dataset.cases.size()) plan = MakePlan(readable, options);
  UnitRunner runner(options, store, &progress);

  study.protocol = {.version = kVersion,
                    .target = ActiveTarget(),
                    .seed = options.seed,
                    .split = plan.split,
                    .search = options.search,
                    .select = options.select,
                    .paper_objective = options.paper_objective};
  study.data = runner.Inspect(readable);
  const std::vector<RepeatUnits> repeats = RunRepeats(plan, &runner);
  const std::vector<size_t> places = CompletePipelines(repeats, runner.failures());
  for (const size_t p : places)
    study.pipelines.push_back(Describe(*repeats[0].fitted.models[p], plan.pipelines[p]));
  for (size_t r = 0; r < repeats.size(); ++r)
    study.repeats.push_back(
        DescribeRepeat(plan.partitions[r], repeats[r], places, r, options.folder));
  study.statistics = StatisticsOf(TestResultsOf(study), plan, options);
  study.flips = AuditFlips(study);
  study.shifts = RunShifts(plan, options, repeats, places, &runner);
  std::vector<const FittedModels*> fitted;
  for (const RepeatUnits& repeat : repeats) fitted.push_back(&repeat.fitted);
  study.sensitivity = RunSensitivity(plan, options, fitted, places, &runner);
  study.failures = runner.failures();

  std::vector<const EvaluateResult*> chosen_by;
  for (const StudyRepeat& repeat : study.repeats) chosen_by.push_back(&*repeat.chosen_by);
  study.recommendation = Recommend(study.pipelines, chosen_by, plan.num_members, options.recommend);
  JudgeRecommendation(&study);
  WarnOfFits(&study);
  ShipRecommended(readable, plan, options, store, &progress, &study);
  WriteTimings(progress, options.folder);
  return study;
}

}  // namespace segcal
