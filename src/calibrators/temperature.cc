// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "calibrators/calibrator.h"
#include "core/json.h"
#include "core/throw.h"
#include "data/temperature_pass.h"
#include "kernels/softmax.h"
#include "optim/newton1d.h"

namespace segcal {
namespace {

struct TemperatureOptions {
  // Stop when the slope of the mean loss (T3) is at most this.
  double gradient_tolerance = 1e-6;
  // Largest inverse temperature; reached only where every label is the argmax.
  double max_beta = 1e6;
  int64_t max_iterations = 100;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("gradient_tolerance", self.gradient_tolerance, Positive());
    field("max_beta", self.max_beta, Between(1.0, 1e6));
    field("max_iterations", self.max_iterations, AtLeast(1));
  }
};

// q = softmax(beta z), beta = 1/T in [0, max_beta], minimising the mean negative log-likelihood
// (T2). The problem is convex in beta, which it is not in T.
class TemperatureScaling final : public PixelCalibrator {
 public:
  static constexpr const char* kName = "ts";
  explicit TemperatureScaling(const TemperatureOptions& options) : options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = true, .preserves = Preserves::kOrder};
  }
  ParameterCounts counts(int64_t) const override { return {.optimised = 1, .identifiable = 1}; }

  FitOutcome Fit(const FitContext& context) override {
    passes_ = 1;  // the survey
    bounded_ = true;
    const Survey& survey = context.survey;
    const Point1D at_one = MeanPoint(1.0, survey.at_one);
    if (survey.flat == survey.labelled) {
      return Degenerate(
          at_one, "nothing_to_fit", "all logits are equal at every voxel: beta stays 1");
    }
    if (survey.margins.below_max == 0) {
      bounded_ = false;
      return Degenerate(Evaluate(context, options_.max_beta),
                        "at_bound",
                        "every label has the largest logit: the likelihood grows without end, beta "
                        "is at its cap");
    }
    if (survey.margins.slope_at_zero >= 0.0) {
      return Degenerate(Evaluate(context, 0.0),
                        "at_bound",
                        "labels have no more than the mean logit: the best temperature is "
                        "infinite, the output uniform");
    }
    return FitInterior(context);
  }

  Json Parameters() const override { return {{"beta", beta_}}; }
  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject object(json, where);
    beta_ = object.Number("beta");
    object.Finish();
    if (!(beta_ >= 0.0 && beta_ <= options_.max_beta)) {
      Throw(ErrorCode::kBadData,
            "{}: beta is {}, a value in [0, {}] is required",
            where,
            beta_,
            options_.max_beta);
    }
  }
  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, beta_, out);
  }
  bool TemperatureTile(const Tile&, float* out) const override {
    std::fill_n(out, kTileVoxels, static_cast<float>(1.0 / beta_));
    return true;
  }

 private:
  // The sample's optimum, unless a cap of the caller's excludes it.
  Point1D StartingPoint(const Survey& survey) const {
    if (survey.sample_beta > options_.max_beta) return MeanPoint(1.0, survey.at_one);
    return MeanPoint(survey.sample_beta, survey.at_sample_beta);
  }

  Point1D Evaluate(const FitContext& context, double beta) {
    ++passes_;
    const std::string stage = fmt::format("fit ts, pass {}", passes_);
    return MeanPoint(beta, TemperaturePass(context.stream, stage, context.pooling, beta));
  }

  FitOutcome FitInterior(const FitContext& context) {
    const Newton1DResult result =
        MinimizeConvex1D([&](double beta) { return Evaluate(context, beta); },
                         StartingPoint(context.survey),
                         {.lower = 0.0,
                          .upper = options_.max_beta,
                          .slope_tolerance = options_.gradient_tolerance,
                          .max_evaluations = options_.max_iterations});
    const bool converged = result.status == Newton1DStatus::kConverged;
    const bool at_bound = !converged && result.status != Newton1DStatus::kNotConverged;
    FitOutcome outcome = Finish(result.point,
                                converged  ? "converged"
                                : at_bound ? "at_bound"
                                           : "not_converged");
    if (!converged && !at_bound) {
      outcome.warnings.push_back(
          fmt::format("no convergence in {} passes: the slope is {}", passes_, result.point.slope));
    }
    return outcome;
  }

  FitOutcome Degenerate(const Point1D& point, const char* status, const char* why) {
    FitOutcome outcome = Finish(point, status);
    outcome.warnings.emplace_back(why);
    return outcome;
  }

  // Takes over the result and certifies it: at a bound only the part of the slope that points
  // inside counts.
  FitOutcome Finish(const Point1D& point, const char* status) {
    beta_ = point.x;
    double gradient = point.slope;
    if (point.x <= 0.0) gradient = std::min(gradient, 0.0);
    if (point.x >= options_.max_beta) gradient = std::max(gradient, 0.0);
    FitOutcome outcome;
    outcome.solver = "newton, third order, safeguarded";
    outcome.status = status;
    outcome.passes = passes_;
    outcome.nll_after = point.value;
    outcome.certificates = {
        {.gradient = std::fabs(gradient),
         .newton_decrement =
             point.curvature > 0.0 ? std::fabs(gradient) / std::sqrt(point.curvature) : 0.0,
         .bounded = bounded_}};
    return outcome;
  }

  TemperatureOptions options_;
  double beta_ = 1.0;
  int64_t passes_ = 0;
  bool bounded_ = true;  // false: the likelihood grows without end
};

}  // namespace

extern constinit const CalibratorInfo kTemperature{
    .name = "ts",
    .summary = "Divides all logits by one temperature.",
    .reference = "Guo17",
    .page = "temperature",
    .default_options = &DefaultOptions<TemperatureOptions>,
    .make = &MakeWith<TemperatureScaling, TemperatureOptions>};

}  // namespace segcal
