// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fit.h"

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "core/checkpoint.h"
#include "core/progress.h"
#include "core/ranks.h"
#include "core/text_hash.h"
#include "core/throw.h"
#include "kernels/dispatch.h"
#include "methods/shared/applied_error.h"
#include "pipeline/case_facts.h"
#include "pipeline/compatible.h"
#include "pipeline/fit_session.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "pipeline/survey.h"
#include "segcal/files.h"
#include "segcal/version.h"

namespace segcal {
namespace {

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
  const std::vector<std::string> of_cases = CaseWarnings(NameFacts(dataset, survey.cases));
  warnings.insert(warnings.end(), of_cases.begin(), of_cases.end());
  if (survey.renormalised > 0) {
    warnings.push_back(
        fmt::format("{} probability rows did not sum to one within 1e-3 and were renormalised",
                    survey.renormalised));
  }
  return warnings;
}

// What determines a model, as text, and the cases that it was chosen by.
struct FitIdentity {
  std::string text;
  std::vector<CaseFacts> validation;

  uint64_t number(const std::string& more = "") const { return HashText(text + more); }
};

FitReport MakeReport(const CaseStream& stream,
                     const Survey& survey,
                     const FitIdentity& fit,
                     FitOutcome outcome) {
  std::vector<std::string> warnings = DataWarnings(stream.dataset(), survey);
  outcome.warnings.insert(outcome.warnings.begin(), warnings.begin(), warnings.end());
  FittedData data{.name = stream.dataset().name,
                  .cases = stream.num_cases(),
                  .voxels = survey.voxels,
                  .labelled = survey.labelled,
                  .hash = survey.hash,
                  .members = std::ssize(stream.dataset().cases.front().members),
                  .case_hashes = {}};
  for (const auto* cases : {&survey.cases, &fit.validation}) {
    for (const CaseFacts& c : *cases) data.case_hashes.push_back(c.hash);
  }
  return {std::move(outcome),
          std::move(data),
          fit.number(),
          survey.at_one.loss / static_cast<double>(survey.labelled)};
}

// What a fit sees of its data.
FitContext MakeContext(const CaseStream& stream,
                       const Pooling& pooling,
                       const TileSample& sample,
                       const Survey& survey,
                       uint64_t seed) {
  return {.stream = stream,
          .validation = nullptr,
          .pooling = pooling,
          .sample = sample,
          .survey = survey,
          .seed = seed,
          .trials = 0,
          .folds = {},
          .fixed_options = {},
          .checkpoint = nullptr};
}

// The contexts that a search goes by, with what keeps them: samples of folds are not needed.
struct FoldContexts {
  FoldContexts(SharedData* shared, const Pooling& pooling) {
    const std::vector<SharedData::Fold>& folds = shared->Folds(pooling);
    const std::vector<Survey>& surveys = shared->Of(pooling).of_folds;
    for (size_t k = 0; k < folds.size(); ++k) {
      CheckLabelled(*folds[k].training, surveys[k]);
      training.push_back(std::make_unique<FitContext>(
          MakeContext(*folds[k].training, pooling, no_sample, surveys[k], shared->seed())));
      list.push_back({.training = training.back().get(), .validation = folds[k].validation.get()});
    }
  }
  FoldContexts(const FoldContexts&) = delete;
  FoldContexts& operator=(const FoldContexts&) = delete;

  TileSample no_sample;
  std::vector<std::unique_ptr<FitContext>> training;
  std::vector<SearchFold> list;
};

// Two fits with the same identity have the same result.
FitIdentity IdentifyFit(const FitContext& context, const PipelineSpec& spec, SharedData* shared) {
  FitIdentity fit;
  if (context.validation != nullptr)
    fit.validation = shared->FactsOf(*context.validation, spec.pooling);
  fit.text = fmt::format("{} {} seed {} trials {} data {:016x} of {} validation {:016x} of {}",
                         kVersion,
                         FormatPipeline(spec),
                         context.seed,
                         context.trials,
                         context.survey.hash,
                         context.stream.num_cases(),
                         HashOfCases(fit.validation),
                         fit.validation.size());
  return fit;
}

// A training goes on bit for bit where these are the same too: what it draws depends on the memory
// it has.
std::string MachineText(const CaseStream& stream) {
  return fmt::format(" {} memory {}", ActiveTarget(), stream.memory());
}

// The model that this fit wrote before, if it is there. The first rank looks for all.
std::optional<Model> FindFinished(const CheckpointFile& checkpoint, const FitIdentity& fit) {
  if (!checkpoint.resume || checkpoint.finished.empty()) return std::nullopt;
  std::optional<Model> found;
  const std::string text = TextOfFirstRank("finished model", [&] {
    if (!HoldsKind(checkpoint.finished, FileKind::kModel)) return std::string();
    found = Model::Load(checkpoint.finished);
    return found->report().identity == fit.number() ? found->ToJson() : std::string();
  });
  if (text.empty()) return std::nullopt;
  return found ? found : Model::FromJson(text, checkpoint.finished);
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
          "split {} is to fit on and to choose by: another option validation is required",
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

Model FitShared(SharedData* shared,
                const PipelineSpec& spec,
                const SearchCases& search,
                const CheckpointFile& checkpoint) {
  const CaseStream& stream = shared->stream();
  auto state = std::make_shared<ModelState>();
  state->spec = spec;
  state->classes = stream.dataset().classes;
  state->input = stream.dataset().input.value();
  state->floor = InputFloor(state->input);

  const SharedData::OfPooling& data = shared->Of(spec.pooling);
  CheckLabelled(stream, data.survey);
  FitContext context = MakeContext(stream, spec.pooling, data.sample, data.survey, shared->seed());
  for (const auto& [key, value] : OptionsOfLastStage(spec.stages, spec.options))
    context.fixed_options.push_back(key);
  std::optional<FoldContexts> folds;
  context.validation = search.validation;
  const SearchBy search_by = FindCalibrator(spec.stages.back()).search;
  if (search_by != SearchBy::kNothing) context.trials = search.trials;
  if (search.validation != nullptr) {
    context.folds = {{.training = nullptr, .validation = search.validation}};
  } else if (search_by == SearchBy::kFolds && search.trials > 0) {
    folds.emplace(shared, spec.pooling);
    context.folds = folds->list;
  }
  const FitIdentity identity = IdentifyFit(context, spec, shared);
  if (std::optional<Model> finished = FindFinished(checkpoint, identity)) return *finished;
  std::optional<Checkpoint> kept;
  if (!checkpoint.path.empty()) {
    kept.emplace(checkpoint.path, identity.number(MachineText(stream)), checkpoint.resume);
    context.checkpoint = &*kept;
  }
  std::unique_ptr<Calibrator> calibrator = MakeCalibrator(spec.stages, spec.options);
  FitOutcome outcome = calibrator->Fit(context);
  outcome.search.select = folds ? Selection::kFolds : Selection::kValidation;
  if (search.validation != nullptr) WarnOfHarm(*search.validation, spec, *calibrator, &outcome);
  state->calibrator = std::move(calibrator);
  // What was chosen becomes part of the pipeline: fitted with it again, the optimum is the same.
  for (const auto& [key, value] : outcome.search.chosen) state->spec.options[key] = value;
  state->pipeline = FormatPipeline(state->spec);
  state->fit = MakeReport(stream, data.survey, identity, std::move(outcome));
  return ModelAccess::Make(std::move(state));
}

Model FitStream(const CaseStream& stream,
                const PipelineSpec& spec,
                uint64_t seed,
                const SearchCases& search,
                const CheckpointFile& checkpoint) {
  SharedData shared(stream, seed);
  return FitShared(&shared, spec, search, checkpoint);
}

FitResult Fit(const Dataset& dataset, const std::string& pipeline, const FitOptions& options) {
  const ProgressScope scope(options.run.progress);
  CheckDataset(dataset, DatasetTitle(dataset));
  const PipelineSpec spec = ParsePipeline(pipeline);
  CheckNeeds(MakeCalibrator(spec.stages, spec.options)->needs(),
             CasesToFit(dataset, options.split));
  std::vector<std::string> skipped;
  const auto readable = [&](const Dataset& cases) {
    return ReadableCases(cases, {spec.pooling}, options.run, &skipped);
  };
  Dataset calibration = readable(CasesToFit(dataset, options.split));
  Dataset validation = dataset;
  validation.cases.clear();
  if (const std::optional<std::string> split = ValidationSplit(dataset, options))
    validation = readable(SelectSplit(dataset, *split));
  FitSession session(std::move(calibration),
                     std::move(validation),
                     {spec.pooling},
                     {.run = options.run,
                      .seed = options.seed,
                      .search = options.search,
                      .select = options.select.value_or(Selection::kFolds)});
  Model model = session.Fit(
      spec, {.path = options.checkpoint, .resume = options.resume, .finished = options.finished});
  return {.model = std::move(model), .skipped = std::move(skipped)};
}

}  // namespace segcal
