// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fit.h"

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "core/checkpoint.h"
#include "core/progress.h"
#include "core/throw.h"
#include "kernels/dispatch.h"
#include "methods/shared/applied_error.h"
#include "pipeline/compatible.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "pipeline/survey.h"
#include "segcal/version.h"

namespace segcal {
namespace {

// Voxels of the sample on which fits take their first steps: 10 MiB of 20 classes. At this size the
// sample's temperature is within about a per cent of the full data's.
constexpr int64_t kSampleVoxels = 1 << 17;

// Trials of a search where nothing else is asked for, and the parts of a cross-validation.
constexpr int64_t kTrials = 20;
constexpr int kFolds = 5;

// Above this share of repeated predictions a fill is likely enough to warn about.
constexpr double kRepeatShare = 0.01;

Dataset CasesToFit(const Dataset& dataset, const std::string& split) {
  if (!split.empty()) return SelectSplit(dataset, split);
  const bool has_splits = std::any_of(
      dataset.cases.begin(), dataset.cases.end(), [](const Case& c) { return !c.split.empty(); });
  return has_splits ? SelectSplit(dataset, "calibration") : dataset;
}

void CheckLabelled(const CaseStream& stream, const Survey& survey) {
  if (survey.labelled > 0) return;
  Throw(ErrorCode::kBadData,
        "the {} cases to fit on have no labelled voxel ({} voxels, all ignored, masked or without "
        "labels)",
        stream.num_cases(),
        survey.voxels);
}

// Warnings about the data that any fit on it deserves.
std::vector<std::string> DataWarnings(const Dataset& dataset, const Survey& survey) {
  std::vector<std::string> warnings;
  std::vector<std::string> absent;
  for (size_t c = 0; c < survey.label_counts.size(); ++c) {
    if (survey.label_counts[c] == 0) absent.push_back(dataset.classes[c]);
  }
  if (!absent.empty())
    warnings.push_back(fmt::format("no voxel is labelled {}", fmt::join(absent, ", ")));
  if (static_cast<double>(survey.repeated) > kRepeatShare * static_cast<double>(survey.voxels)) {
    warnings.push_back(fmt::format(
        "{:.1f} % of the voxels repeat their neighbour's prediction exactly, as fills outside a "
        "crop do; give a mask "
        "that leaves them out (segcal inspect shows the vector)",
        100.0 * static_cast<double>(survey.repeated) / static_cast<double>(survey.voxels)));
  }
  if (survey.renormalised > 0) {
    warnings.push_back(
        fmt::format("{} probability rows did not sum to one within 1e-3 and were renormalised",
                    survey.renormalised));
  }
  return warnings;
}

FitReport MakeReport(const CaseStream& stream, const Survey& survey, FitOutcome outcome) {
  std::vector<std::string> warnings = DataWarnings(stream.dataset(), survey);
  outcome.warnings.insert(outcome.warnings.begin(), warnings.begin(), warnings.end());
  return {std::move(outcome),
          {.name = stream.dataset().name,
           .cases = stream.num_cases(),
           .voxels = survey.voxels,
           .labelled = survey.labelled,
           .hash = survey.hash},
          survey.at_one.loss / static_cast<double>(survey.labelled)};
}

// What one fit sees: its sample, its survey and the context made of them.
struct Prepared {
  Prepared(const CaseStream& stream, const PipelineSpec& spec, uint64_t seed)
      : sample(SampleTiles(stream, spec.pooling, kSampleVoxels, seed)),
        survey(SurveyData(stream, spec.pooling, TemperatureOfSample(sample, stream.num_workers()))),
        context{.stream = stream,
                .validation = nullptr,
                .pooling = spec.pooling,
                .sample = sample,
                .survey = survey,
                .seed = seed,
                .trials = 0,
                .folds = {},
                .fixed_options = {},
                .checkpoint = nullptr} {
    CheckLabelled(stream, survey);
    for (const auto& [key, value] : OptionsOfLastStage(spec.stages, spec.options))
      context.fixed_options.push_back(key);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  TileSample sample;
  Survey survey;
  FitContext context;
};

// One part of a cross-validation: everything but some groups to fit on, and those to choose by.
struct Fold {
  std::unique_ptr<CaseStream> training_cases;
  std::unique_ptr<CaseStream> validation;
  std::unique_ptr<Prepared> training;
};

std::vector<Fold> MakeFolds(const CaseStream& stream, const PipelineSpec& spec, uint64_t seed) {
  std::vector<std::pair<std::string, double>> parts;
  parts.reserve(kFolds);
  for (int k = 0; k < kFolds; ++k) parts.emplace_back(fmt::format("fold {}", k), 1.0);
  Dataset dataset = stream.dataset();
  AssignSplits(&dataset, parts, seed);
  std::vector<Fold> folds;
  for (const auto& part : parts) {
    std::vector<int64_t> inside;
    std::vector<int64_t> outside;
    for (int64_t c = 0; c < stream.num_cases(); ++c) {
      const bool held_out = dataset.cases[static_cast<size_t>(c)].split == part.first;
      (held_out ? outside : inside).push_back(c);
    }
    if (inside.empty() || outside.empty()) continue;
    Fold& fold = folds.emplace_back();
    fold.training_cases = stream.Subset(inside);
    fold.validation = stream.Subset(outside);
    fold.training = std::make_unique<Prepared>(*fold.training_cases, spec, seed);
    // The survey was what it was for; the samples of all folds together would take much.
    fold.training->sample = {};
  }
  if (folds.size() < 2) {
    Throw(ErrorCode::kInvalidArgument,
          "{} cases in too few groups to cross-validate: give a validation split, or no --search",
          dataset.cases.size());
  }
  return folds;
}

// Identifies a fit: two with the same number go the same way, bit for bit. What a training draws
// depends on the memory it has.
uint64_t IdentifyFit(const FitContext& context,
                     const PipelineSpec& spec,
                     const SearchCases& search) {
  std::string text = fmt::format("{} {} {} seed {} trials {} memory {} data {:016x} of {}",
                                 kVersion,
                                 ActiveTarget(),
                                 FormatPipeline(spec),
                                 context.seed,
                                 context.trials,
                                 context.stream.memory(),
                                 context.survey.hash,
                                 context.stream.num_cases());
  if (search.validation != nullptr) {
    for (const Case& c : search.validation->dataset().cases) text += " " + c.id;
  }
  // FNV-1a.
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

// No method makes calibration worse without saying so. What shows no difference at the digits that
// are printed is none.
void WarnOfHarm(const CaseStream& validation,
                const PipelineSpec& spec,
                const Calibrator& calibrator,
                FitOutcome* outcome) {
  if (spec.stages == std::vector<std::string>{"none"}) return;
  const AppliedError error =
      MeasureAppliedError(validation, spec.pooling, calibrator, "check on validation cases");
  if (!(std::round(1e5 * error.after) > std::round(1e5 * error.before))) return;
  outcome->warnings.push_back(
      fmt::format("on the validation cases the ECE is {:.5f} with {} and {:.5f} without (ten bins, "
                  "mean over cases)",
                  error.after,
                  fmt::join(spec.stages, "+"),
                  error.before));
}

// The cases to choose by are others than those fitted on.
std::optional<std::string> ValidationSplit(const Dataset& dataset, const FitOptions& options) {
  const std::string fitted = options.split.empty() ? "calibration" : options.split;
  if (options.validation == fitted) {
    Throw(ErrorCode::kInvalidArgument,
          "split {} is to fit on and to choose by: another --validation is required",
          fitted);
  }
  if (!options.validation.empty()) return options.validation;
  if (fitted == "validation") return std::nullopt;
  const bool named = std::any_of(dataset.cases.begin(), dataset.cases.end(), [](const Case& c) {
    return c.split == "validation";
  });
  return named ? std::optional<std::string>("validation") : std::nullopt;
}

}  // namespace

Model FitStream(const CaseStream& stream,
                const PipelineSpec& spec,
                uint64_t seed,
                const SearchCases& search,
                const CheckpointFile& checkpoint) {
  auto state = std::make_shared<ModelState>();
  state->spec = spec;
  state->classes = stream.dataset().classes;
  state->input = stream.dataset().input.value();
  state->floor = InputFloor(state->input);

  Prepared all(stream, spec, seed);
  std::vector<Fold> folds;
  all.context.validation = search.validation;
  const SearchBy search_by = FindCalibrator(spec.stages.back()).search;
  if (search_by != SearchBy::kNothing) all.context.trials = search.trials;
  if (search.validation != nullptr) {
    all.context.folds = {{.training = nullptr, .validation = search.validation}};
  } else if (search_by == SearchBy::kFolds && search.trials > 0) {
    folds = MakeFolds(stream, spec, seed);
    for (const Fold& fold : folds) {
      all.context.folds.push_back(
          {.training = &fold.training->context, .validation = fold.validation.get()});
    }
  }
  std::optional<Checkpoint> kept;
  if (!checkpoint.path.empty()) {
    kept.emplace(checkpoint.path, IdentifyFit(all.context, spec, search), checkpoint.resume);
    all.context.checkpoint = &*kept;
  }
  std::unique_ptr<Calibrator> calibrator = MakeCalibrator(spec.stages, spec.options);
  FitOutcome outcome = calibrator->Fit(all.context);
  if (search.validation != nullptr) WarnOfHarm(*search.validation, spec, *calibrator, &outcome);
  state->calibrator = std::move(calibrator);
  // What was chosen becomes part of the pipeline: fitted with it again, the optimum is the same.
  for (const auto& [key, value] : outcome.search.chosen) state->spec.options[key] = value;
  state->pipeline = FormatPipeline(state->spec);
  state->fit = MakeReport(stream, all.survey, std::move(outcome));
  return ModelAccess::Make(std::move(state));
}

FitResult Fit(const Dataset& dataset, const std::string& pipeline, const FitOptions& options) {
  const ProgressScope scope(options.run.progress);
  CheckDataset(dataset, DatasetTitle(dataset));
  const PipelineSpec spec = ParsePipeline(pipeline);
  const Needs needs = MakeCalibrator(spec.stages, spec.options)->needs();
  std::vector<std::string> skipped;
  const auto open = [&](const Dataset& cases) {
    CheckNeeds(needs, cases);
    return std::make_unique<CaseStream>(
        cases, std::vector<Pooling>{spec.pooling}, MakeStreamOptions(options.run));
  };
  const auto readable = [&](const Dataset& cases) {
    return ReadableCases(cases, {spec.pooling}, options.run, &skipped);
  };
  const std::unique_ptr<CaseStream> stream = open(readable(CasesToFit(dataset, options.split)));
  const std::optional<std::string> split = ValidationSplit(dataset, options);
  std::unique_ptr<CaseStream> validation;
  if (split) validation = open(readable(SelectSplit(dataset, *split)));
  const SearchCases search{.trials = options.search.value_or(split ? kTrials : 0),
                           .validation = validation.get()};
  const CheckpointFile checkpoint{.path = options.checkpoint, .resume = options.resume};
  return {.model = FitStream(*stream, spec, options.seed, search, checkpoint),
          .skipped = std::move(skipped)};
}

}  // namespace segcal
