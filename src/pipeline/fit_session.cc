// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fit_session.h"

#include <numeric>

#include "calibrators/list.h"
#include "pipeline/compatible.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

// Trials of a search where nothing else is asked for.
constexpr int64_t kTrials = 20;

Dataset Joined(Dataset first, const Dataset& second) {
  first.cases.insert(first.cases.end(), second.cases.begin(), second.cases.end());
  return first;
}

std::vector<int64_t> Range(size_t begin, size_t end) {
  std::vector<int64_t> indices(end - begin);
  std::iota(indices.begin(), indices.end(), static_cast<int64_t>(begin));
  return indices;
}

// Fits pass over the cases several times.
StreamOptions OptionsOfPasses(const RunOptions& run) {
  StreamOptions options = MakeStreamOptions(run);
  options.keeps_decoded = true;
  return options;
}

}  // namespace

FitSession::FitSession(const Dataset& calibration,
                       const Dataset& validation,
                       const std::vector<Pooling>& poolings,
                       const SessionOptions& options)
    : all_(Joined(calibration, validation), poolings, OptionsOfPasses(options.run)),
      calibration_(all_.Subset(Range(0, calibration.cases.size()))),
      validation_(validation.cases.empty()
                      ? nullptr
                      : all_.Subset(Range(calibration.cases.size(), all_.dataset().cases.size()))),
      of_all_(all_, options.seed),
      of_calibration_(*calibration_, options.seed),
      options_(options) {}

Model FitSession::Fit(const PipelineSpec& spec, const CheckpointFile& checkpoint) {
  CheckNeeds(MakeCalibrator(spec.stages, spec.options)->needs(), all_.dataset());
  const int64_t trials = options_.search.value_or(validation_ ? kTrials : 0);
  const bool by_folds = options_.select == Selection::kFolds && validation_ && trials > 0 &&
                        FindCalibrator(spec.stages.back()).search == SearchBy::kFolds;
  if (by_folds)
    return FitShared(&of_all_, spec, {.trials = trials, .validation = nullptr}, checkpoint);
  return FitShared(
      &of_calibration_, spec, {.trials = trials, .validation = validation_.get()}, checkpoint);
}

}  // namespace segcal
