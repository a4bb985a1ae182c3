// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/options.h"
#include "core/throw.h"
#include "methods/selective/selective_temperature.h"
#include "methods/selective/selector_problem.h"
#include "methods/shared/applied_loss.h"
#include "methods/shared/calibrator_info.h"
#include "methods/training/training.h"

namespace segcal {

extern const CalibratorInfo kNone;

namespace {

// Voxels of the validation sample, as a share of those trained on in an epoch.
constexpr int64_t kValidationShare = 4;

struct SelectiveOptions {
  // Of S3's supplement; all epochs are done and the best by validation is kept.
  TrainingOptions training{.learning_rate = 1e-3,
                           .weight_decay = 1e-6,
                           .patience = 0,
                           .epochs = 40,
                           .epoch_voxels = 2'000'000};
  int64_t batch_voxels = 4096;
  // Of a mispredicted voxel in the loss (SS6); 2 in S3's released code.
  double misprediction_weight = 1.0;
  // How the temperature of flagged voxels is chosen: by the lowest validation ECE, or by the recall
  // of the selector as in the released code, which harms where precision is low.
  std::string rule = "ece";
  // Temperature of the voxels that are not flagged; below 1 for models that lack confidence there.
  double t2 = 1.0;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    TrainingOptions::Fields(self.training, field);
    field("batch_voxels", self.batch_voxels, AtLeast(1));
    field("misprediction_weight", self.misprediction_weight, Positive());
    field("rule", self.rule, OneOf({"ece", "recall"}));
    field("t2", self.t2, Between(1e-3, 1e3));
  }
};

// Divides the logarithms of what a base calibrator emits by a temperature where a network takes the
// base's decision for wrong (SS8). Without a base, of the prediction itself.
class Selective final : public Calibrator {
 public:
  static constexpr const char* kName = "selective";
  Selective(const SelectiveOptions& options, std::unique_ptr<Calibrator> base)
      : options_(options), base_(base ? std::move(base) : kNone.make({}, nullptr)) {}

  // A temperature keeps the order, and the selector does not see offsets: the properties are those
  // of the base.
  Properties properties() const override { return base_->properties(); }
  Needs needs() const override { return base_->needs(); }
  ParameterCounts counts(int64_t num_classes) const override {
    ParameterCounts counts = base_->counts(num_classes);
    const int64_t size = SelectorShape(num_classes).size() + 1;
    counts.optimised += size;
    // Rows before a normalisation, and what a rectifier passes on, have no scale of their own; of
    // the two scores only the difference counts.
    counts.identifiable += size - 9 * num_classes - 1;
    return counts;
  }

  FitOutcome Fit(const FitContext& context) override;

  Json Parameters() const override {
    Json json = {{"base", base_->Parameters()},
                 {"selector", scaling_.selector ? scaling_.selector->ToJson() : Json(nullptr)},
                 {"temperature", scaling_.temperature}};
    // Files without it mean 1.
    if (scaling_.kept_temperature != 1.0) json["kept_temperature"] = scaling_.kept_temperature;
    return json;
  }
  std::vector<Claim> Claims() const override {
    std::vector<Claim> claims = base_->Claims();
    const auto positive = [&](const char* what, double temperature) {
      claims.push_back({.what = what,
                        .property = "preserves",
                        .found = temperature,
                        .allowed = 0.0,
                        .holds = temperature > 0.0});
    };
    positive("the temperature of flagged voxels is positive", scaling_.temperature);
    if (scaling_.kept_temperature != 1.0)
      positive("the temperature of the other voxels is positive", scaling_.kept_temperature);
    return claims;
  }
  void SetParameters(const Json& json, int64_t num_classes, const std::string& where) override;

  std::unique_ptr<BoundCalibrator> Bind(const CaseReader& reader,
                                        const Pooling& pooling,
                                        const BindOptions& options) const override;
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    return scaling_.AddToGraph(in, base_->AddToGraph(in, g), *base_, g);
  }

 private:
  void TrainSelector(const FitContext& context, const TrainingCases& cases, FitOutcome* outcome);
  void ChooseScale(const FitContext& context, const TrainingCases& cases, FitOutcome* outcome);

  SelectiveOptions options_;
  std::unique_ptr<Calibrator> base_;
  SelectiveScaling scaling_;

  friend class BoundSelective;
};

class BoundSelective final : public BoundCalibrator {
 public:
  BoundSelective(const Selective& owner, std::unique_ptr<BoundCalibrator> base)
      : owner_(owner), base_(std::move(base)) {}

  void Apply(const Tile& tile, const TileProbs& out) const override {
    owner_.scaling_.Apply(tile, *owner_.base_, *base_, out);
  }
  bool Temperature(const Tile& tile, float* out) const override {
    if (!base_->Temperature(tile, out)) return false;
    if (!owner_.scaling_.scales()) return true;
    uint8_t flagged[kTileVoxels];
    owner_.scaling_.selector->Flag(tile, flagged);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      out[v] *= static_cast<float>(flagged[v] != 0 ? owner_.scaling_.temperature
                                                   : owner_.scaling_.kept_temperature);
    }
    return true;
  }

 private:
  const Selective& owner_;
  std::unique_ptr<BoundCalibrator> base_;
};

std::unique_ptr<BoundCalibrator> Selective::Bind(const CaseReader& reader,
                                                 const Pooling& pooling,
                                                 const BindOptions& options) const {
  return std::make_unique<BoundSelective>(*this, base_->Bind(reader, pooling, options));
}

FitOutcome Selective::Fit(const FitContext& context) {
  FitOutcome outcome = base_->Fit(context);
  outcome.figures["base_nll"] = outcome.nll_after;
  // They are proofs for the base's loss, not for what is emitted now.
  outcome.certificates.clear();
  const TrainingCases cases = SplitForTraining(context);
  outcome.warnings.insert(outcome.warnings.end(), cases.warnings.begin(), cases.warnings.end());
  scaling_ = {};
  TrainSelector(context, cases, &outcome);
  if (!scaling_.selector) return outcome;
  ChooseScale(context, cases, &outcome);
  outcome.nll_after = AppliedLoss(context, *this, "fit selective, loss");
  outcome.passes += 2;
  return outcome;
}

// Leaves no selector where there is nothing to learn from.
void Selective::TrainSelector(const FitContext& context,
                              const TrainingCases& cases,
                              FitOutcome* outcome) {
  const TrainingOptions& options = options_.training;
  const SelectorSample training = DrawSelectorSample(
      *cases.training, context.pooling, *base_, options.epoch_voxels, context.seed);
  const SelectorSample validation = DrawSelectorSample(*cases.validation,
                                                       context.pooling,
                                                       *base_,
                                                       options.epoch_voxels / kValidationShare,
                                                       context.seed);
  const int64_t wrong = training.num_wrong();
  if (wrong == 0 || wrong == training.num_voxels() || validation.num_voxels() == 0) {
    outcome->warnings.push_back(
        fmt::format("{} mispredictions among {} labelled voxels to train on, {} to choose the best "
                    "epoch by: no selector can be learned from them and none flags anything",
                    wrong,
                    training.num_voxels(),
                    validation.num_voxels()));
    return;
  }
  SelectorProblem problem(training,
                          validation,
                          {.batch_voxels = options_.batch_voxels,
                           .wrong_weight = options_.misprediction_weight,
                           .seed = context.seed,
                           .threads = context.stream.num_workers()});
  TrainingJob job{.name = kName,
                  .problem = &problem,
                  .start = SelectorStart(SelectorShape(training.num_classes()), context.seed),
                  .options = EngineOptions(options, /*decoupled=*/true)};
  job.options.plateau.factor = 1.0;  // the paper's rate does not change
  FitContext one_trial = context;
  one_trial.trials = 0;
  TrainedFit fit = FitByTraining(one_trial, job);
  const SelectorShape shape(training.num_classes());
  SelectorStatistics statistics =
      PopulationStatistics(shape, fit.parameters, training, context.stream.num_workers());
  scaling_.selector.emplace(shape, std::move(fit.parameters), std::move(statistics));
  outcome->solver = "adamw";
  outcome->status = FitStatus::kTrained;
  outcome->training = std::move(fit.report);
  outcome->training.voxels = training.num_voxels();
  outcome->training.validation_voxels = validation.num_voxels();
  outcome->training.identity_nll = ConstantScoreLoss(validation, options_.misprediction_weight);
}

// Means over the validation cases: how well the selector finds mispredictions, what that does to
// the calibration error, of correct and of mispredicted voxels apart, and what a perfect one would.
void ReportSelection(const SelectionCounts& counts,
                     const SelectiveStudy& study,
                     const SelectiveError& chosen,
                     FitOutcome* outcome) {
  const SelectiveError& base = study.base;
  outcome->figures["misprediction_recall"] = counts.recall();
  outcome->figures["misprediction_precision"] = counts.precision();
  outcome->figures["flagged_share"] =
      static_cast<double>(counts.flagged) / static_cast<double>(counts.labelled);
  outcome->figures["temperature"] = chosen.temperature;
  outcome->figures["validation_ece_base"] = base.ece;
  outcome->figures["validation_ece"] = chosen.ece;
  outcome->figures["validation_ece_correct_base"] = base.correct_ece;
  outcome->figures["validation_ece_correct"] = chosen.correct_ece;
  outcome->figures["validation_ece_mispredicted_base"] = base.wrong_ece;
  outcome->figures["validation_ece_mispredicted"] = chosen.wrong_ece;
  for (const OracleError& oracle : study.oracle) {
    outcome->figures[fmt::format("oracle_ece_{:03.0f}", 100.0 * oracle.recall)] = oracle.ece;
  }
}

void WarnIfWorse(const char* what, double before, double after, FitOutcome* outcome) {
  if (!(after > before)) return;
  outcome->warnings.push_back(fmt::format(
      "on the cases it was chosen by, the {} is {:.5f} with the selector and {:.5f} without",
      what,
      after,
      before));
}

void Selective::ChooseScale(const FitContext& context,
                            const TrainingCases& cases,
                            FitOutcome* outcome) {
  const CaseStream& validation = *cases.validation;
  const SelectionCounts counts =
      CountSelection(validation, context.pooling, *base_, *scaling_.selector);
  const SelectiveStudy study =
      StudyTemperatures(validation, context.pooling, *base_, *scaling_.selector, options_.t2);
  const SelectiveError& chosen =
      options_.rule == "recall" ? ErrorByRecall(study, counts.recall()) : LowestError(study);
  scaling_.temperature = chosen.temperature;
  scaling_.kept_temperature = options_.t2;
  ReportSelection(counts, study, chosen, outcome);
  const double before = AppliedMeanLoss(validation, context.pooling, *base_);
  const double after = AppliedMeanLoss(validation, context.pooling, *this);
  outcome->figures["validation_nll_base"] = before;
  outcome->figures["validation_nll"] = after;
  WarnIfWorse("NLL", before, after, outcome);
  WarnIfWorse("ECE", study.base.ece, chosen.ece, outcome);
  if (chosen.temperature == 1.0) {
    outcome->warnings.push_back(
        "on the cases it was chosen by, no temperature lowers the ECE of the voxels that the "
        "selector flags: it is of no use, and they are not scaled (T1 = 1)");
  }
}

void Selective::SetParameters(const Json& json, int64_t num_classes, const std::string& where) {
  JsonObject object(json, where);
  const auto read = [&](const char* field) {
    const double temperature = object.Number(field);
    if (temperature > 0.0 && temperature <= kLargestTemperature) return temperature;
    Throw(ErrorCode::kBadData,
          "{}: {} is {}, a value in (0, {}] is required",
          where,
          field,
          temperature,
          kLargestTemperature);
  };
  const double temperature = read("temperature");
  const double kept = object.Has("kept_temperature") ? read("kept_temperature") : 1.0;
  base_->SetParameters(object.Object("base"), num_classes, where + ": base");
  scaling_.temperature = temperature;
  scaling_.kept_temperature = kept;
  scaling_.selector.reset();
  if (object.Has("selector")) {
    scaling_.selector =
        Selector::FromJson(object.Any("selector"), num_classes, where + ": selector");
  }
  object.Finish();
}

std::unique_ptr<Calibrator> MakeSelective(const OptionMap& options,
                                          std::unique_ptr<Calibrator> base) {
  return std::make_unique<Selective>(ParseOptions<SelectiveOptions>(Selective::kName, options),
                                     std::move(base));
}

}  // namespace

extern constinit const CalibratorInfo kSelective{
    .name = "selective",
    .summary =
        "Flattens voxels that a small network takes for mispredictions; selective+ts(p) "
        "does so after another calibrator.",
    .reference = "Wang23",
    .page = "selective",
    .default_options = &DefaultOptions<SelectiveOptions>,
    .make = &MakeSelective,
    .composes = true};

}  // namespace segcal
