// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fit.h"

#include <algorithm>

#include "calibrators/list.h"
#include "core/throw.h"
#include "pipeline/compatible.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "pipeline/survey.h"

namespace segcal {
namespace {

// Voxels of the sample on which fits take their first steps: 10 MiB of 20 classes. At this size the
// sample's temperature is within about a per cent of the full data's.
constexpr int64_t kSampleVoxels = 1 << 17;

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

FitReport ReportOf(const CaseStream& stream, const Survey& survey, FitOutcome outcome) {
  std::vector<std::string> warnings = DataWarnings(stream.dataset(), survey);
  outcome.warnings.insert(outcome.warnings.begin(), warnings.begin(), warnings.end());
  return {.data_name = stream.dataset().name,
          .cases = stream.num_cases(),
          .voxels = survey.voxels,
          .labelled = survey.labelled,
          .hash = survey.hash,
          .nll_before = survey.at_one.loss / static_cast<double>(survey.labelled),
          .outcome = std::move(outcome)};
}

}  // namespace

Model FitStream(const CaseStream& stream, const PipelineSpec& spec, uint64_t seed) {
  auto state = std::make_shared<ModelState>();
  state->spec = spec;
  state->pipeline = FormatPipeline(spec);
  state->classes = stream.dataset().classes;
  state->input = stream.dataset().input;
  state->floor = FloorOf(ParseInputKind(state->input));
  state->calibrator = MakeCalibrator(spec.stages, spec.options);

  const TileSample sample = SampleTiles(stream, spec.pooling, kSampleVoxels, seed);
  const double sample_beta = TemperatureOfSample(sample, stream.num_workers());
  const Survey survey = SurveyData(stream, spec.pooling, sample_beta);
  CheckLabelled(stream, survey);
  const FitContext context{
      .stream = stream, .pooling = spec.pooling, .sample = sample, .survey = survey, .seed = seed};
  state->fit = ReportOf(stream, survey, state->calibrator->Fit(context));
  return Model(std::move(state));
}

FitResult Fit(const Dataset& dataset, const std::string& pipeline, const FitOptions& options) {
  const PipelineSpec spec = ParsePipeline(pipeline);
  std::vector<std::string> skipped;
  const Dataset cases =
      ReadableCases(CasesToFit(dataset, options.split), {spec.pooling}, options.run, &skipped);
  CheckNeeds(MakeCalibrator(spec.stages, spec.options)->needs(), cases);
  const CaseStream stream(cases, {spec.pooling}, StreamOptionsOf(options.run));
  return {.model = FitStream(stream, spec, options.seed), .skipped = std::move(skipped)};
}

}  // namespace segcal
