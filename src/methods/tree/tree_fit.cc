// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "methods/tree/tree_training.h"

namespace segcal {
namespace {

constexpr uint64_t kGateStream = 0x47415445;

// Of what the stream may use, for patches to train on and for patches to judge by.
constexpr int64_t kTrainingShare = 4;
constexpr int64_t kValidationShare = 8;

// Temperatures a start may have: further out the softplus is flat or the loss is.
constexpr double kStartRange[] = {0.1, 10.0};

// Random responses of the gates have about this size: apart enough for the leaves to part.
constexpr double kGateSize = 0.5;

int64_t CountLabelled(const std::vector<std::vector<TreePatch>>& cases) {
  int64_t labelled = 0;
  for (const auto& patches : cases) {
    for (const TreePatch& patch : patches) labelled += patch.labelled();
  }
  return labelled;
}

// Patches to train on and to judge by.
TreeData GatherData(const TreeInput& input,
                    const TreeOptions& options,
                    const FitContext& context,
                    std::vector<std::string>* warnings) {
  const TrainingCases cases = SplitForTraining(context);
  *warnings = cases.warnings;
  const auto gather = [&](const CaseStream& stream, int64_t share) {
    return GatherPatches(stream,
                         input,
                         {.max_bytes = context.stream.memory() / share,
                          .seed = context.seed,
                          .all_region = options.region == "all"});
  };
  TreeData data{.training = gather(*cases.training, kTrainingShare),
                .validation = gather(*cases.validation, kValidationShare)};
  if (CountLabelled(data.training) == 0) {
    data.training = gather(*cases.validation, kTrainingShare);
    warnings->emplace_back(
        "only the cases held out have labels that count: they were trained on as well");
  }
  if (CountLabelled(data.validation) == 0) {
    warnings->emplace_back(
        "no labelled voxel in the validation cases: the best epoch was chosen on the voxels "
        "trained on");
  }
  return data;
}

// The response whose temperature (LT3) or (LT4) this is.
double InverseResponse(double temperature, bool image) {
  if (image) return temperature - 1.0 - static_cast<double>(kMinTemperature);
  if (temperature == 1.0) return 0.0;  // to the bit
  return std::log(std::expm1(temperature)) - std::log(std::expm1(1.0));
}

// Puts the bias of every leaf where its temperature is this one.
void SetLeaves(const TreeShape& shape, double temperature, std::vector<double>* weights) {
  const int64_t filter = kTreeTaps * shape.classes + 1;
  const double response = InverseResponse(temperature, shape.has_image());
  for (int64_t leaf = 0; leaf < 4; ++leaf)
    (*weights)[static_cast<size_t>((leaf + 1) * filter - 1)] = response;
  if (shape.has_image()) weights->back() = response;
}

// Temperature 1 at every voxel. All zero is not: (LT4) adds the least temperature.
std::vector<double> IdentityWeights(const TreeShape& shape) {
  std::vector<double> weights(static_cast<size_t>(shape.num_parameters()), 0.0);
  SetLeaves(shape, 1.0, &weights);
  return weights;
}

// Weights on the input, in the units of training. Gates start alike for all classes, so that
// relabelling them changes nothing: they look at how sharp the prediction around a voxel is.
std::vector<double> StartingWeights(const TreeShape& shape,
                                    const TreeOptions& options,
                                    const FitContext& context) {
  std::vector<double> start(static_cast<size_t>(shape.num_parameters()), 0.0);
  if (options.start == "zero") return start;
  const int64_t filter = kTreeTaps * shape.classes + 1;
  const double size = kGateSize / std::sqrt(static_cast<double>(shape.classes));
  Rng rng(context.seed, kGateStream);
  for (int64_t gate = 4; gate < shape.score_filters(); ++gate) {
    for (int64_t tap = 0; tap < kTreeTaps; ++tap) {
      const double weight = size * rng.Normal();
      for (int64_t c = 0; c < shape.classes; ++c)
        start[static_cast<size_t>(gate * filter + c * kTreeTaps + tap)] = weight;
    }
  }
  const double sample =
      std::clamp(1.0 / context.survey.sample_beta, kStartRange[0], kStartRange[1]);
  SetLeaves(shape, options.start == "identity" ? 1.0 : sample, &start);
  return start;
}

TreeFit NothingToFit(const TreeShape& shape, int64_t passes, const char* warning) {
  TreeFit fit{.shape = shape, .weights = IdentityWeights(shape), .outcome = {}};
  fit.outcome.solver = "adam";
  fit.outcome.status = FitStatus::kNothingToFit;
  fit.outcome.passes = passes;
  fit.outcome.warnings = {warning};
  return fit;
}

// What training cannot know of its own report.
void CompleteReport(const TreeTraining& training, TrainingReport* report) {
  report->voxels = training.voxels();
  report->validation_voxels = training.validation_voxels();
  report->identity_nll = training.IdentityLoss();
}

// The survey, the gathering of patches, the loss of what is emitted; and all epochs.
int64_t CountPasses(const TreeTraining& training, int64_t epochs, int64_t voxels) {
  const auto trained = static_cast<double>(epochs * training.epoch_voxels());
  return 3 + static_cast<int64_t>(std::ceil(trained / static_cast<double>(voxels)));
}

}  // namespace

TreeFit FitTree(const TreeVariant& variant, const TreeOptions& options, const FitContext& context) {
  TreeShape shape{.classes = context.stream.dataset().num_classes()};
  if (variant.image) shape.image_channels = CaseImage(*context.stream.Open(0)).channels();
  if (context.survey.flat == context.survey.labelled) {
    return NothingToFit(
        shape, /*passes=*/1, "all logits are equal at every voxel: the temperature stays 1");
  }
  const TreeInput input{
      .pooling = context.pooling, .scores = variant.scores, .image_channels = shape.image_channels};
  TreeFit fit;
  fit.shape = shape;
  FitOutcome& outcome = fit.outcome;
  const TreeData data = GatherData(input, options, context, &outcome.warnings);
  if (CountLabelled(data.training) == 0) {
    return NothingToFit(
        shape,
        /*passes=*/2,
        "no labelled voxel lies in the region that counts: the temperature stays 1");
  }
  TreeTraining training(data,
                        {.shape = shape,
                         .whole_case = variant.whole_case,
                         .voxels = options.training.epoch_voxels,
                         .seed = context.seed,
                         .threads = context.stream.num_workers()});
  TrainedFit trained = FitByTraining(context,
                                     {.name = variant.name,
                                      .problem = &training,
                                      .start = StartingWeights(shape, options, context),
                                      .options = EngineOptions(options.training, false)});
  fit.weights = training.Weights(trained.parameters);
  outcome.solver = "adam";
  outcome.status = FitStatus::kTrained;
  outcome.search = std::move(trained.search);
  outcome.training = std::move(trained.report);
  outcome.passes = CountPasses(training, outcome.training.epochs, context.survey.voxels);
  outcome.search.passes =
      CountPasses(training, outcome.training.total_epochs, context.survey.voxels) - outcome.passes;
  CompleteReport(training, &outcome.training);
  const double found = outcome.training.validation_nll;
  if (!(found <= outcome.training.identity_nll)) {
    fit.weights = IdentityWeights(shape);
    outcome.warnings.push_back(
        fmt::format("training ended above the loss without calibration, {:.6g} against {:.6g}: "
                    "the identity is kept",
                    found,
                    outcome.training.identity_nll));
  }
  return fit;
}

}  // namespace segcal
