// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/temperature_fit.h"

#include <algorithm>
#include <cmath>

#include "core/throw.h"
#include "methods/shared/temperature_pass.h"
#include "optim/newton1d.h"

namespace segcal {
namespace {

class TemperatureFitter {
 public:
  TemperatureFitter(const TemperatureProblem& problem, const TemperatureOptions& options)
      : problem_(problem), options_(options), passes_(problem.passes) {}

  TemperatureFit Fit() {
    const Point1D at_one = MeanPoint(1.0, problem_.at_one);
    path_ = {at_one.value};
    if (problem_.flat == problem_.voxels) {
      return Degenerate(
          at_one, FitStatus::kNothingToFit, "all logits are equal at every voxel: beta stays 1");
    }
    if (problem_.margins.below_max == 0) {
      bounded_ = false;
      return Degenerate(Evaluate(options_.max_beta),
                        FitStatus::kAtBound,
                        "every label has the largest logit: the likelihood grows without end, beta "
                        "is at its cap");
    }
    if (problem_.margins.slope_at_zero >= 0.0) {
      return Degenerate(Evaluate(0.0),
                        FitStatus::kAtBound,
                        "labels have no more than the mean logit: the best temperature is "
                        "infinite, the output uniform");
    }
    return FitInterior();
  }

 private:
  // The sample's optimum, unless a cap of the caller's excludes it.
  Point1D StartingPoint() const {
    if (problem_.start_beta > options_.max_beta) return MeanPoint(1.0, problem_.at_one);
    return MeanPoint(problem_.start_beta, problem_.at_start);
  }

  Point1D Evaluate(double beta) {
    ++passes_;
    const std::string stage = fmt::format("fit ts, pass {}", passes_);
    const Point1D point = MeanPoint(beta, problem_.evaluate(stage, beta));
    path_.push_back(point.value);
    return point;
  }

  TemperatureFit FitInterior() {
    const Point1D start = StartingPoint();
    if (start.x != 1.0) path_.push_back(start.value);
    const Newton1DResult result = MinimizeConvex1D([&](double beta) { return Evaluate(beta); },
                                                   start,
                                                   {.lower = 0.0,
                                                    .upper = options_.max_beta,
                                                    .slope_tolerance = options_.gradient_tolerance,
                                                    .max_evaluations = options_.max_iterations});
    const bool converged = result.status == Newton1DStatus::kConverged;
    const bool at_bound = !converged && result.status != Newton1DStatus::kNotConverged;
    TemperatureFit fit = Finish(result.point,
                                converged  ? FitStatus::kConverged
                                : at_bound ? FitStatus::kAtBound
                                           : FitStatus::kNotConverged);
    if (!converged && !at_bound) {
      fit.outcome.warnings.push_back(
          fmt::format("no convergence in {} passes: the slope is {}", passes_, result.point.slope));
    }
    return fit;
  }

  TemperatureFit Degenerate(const Point1D& point, FitStatus status, const char* why) {
    TemperatureFit fit = Finish(point, status);
    fit.outcome.warnings.emplace_back(why);
    return fit;
  }

  // Certifies the result: at a bound only the part of the slope that points inside counts.
  TemperatureFit Finish(const Point1D& point, FitStatus status) {
    double gradient = point.slope;
    if (point.x <= 0.0) gradient = std::min(gradient, 0.0);
    if (point.x >= options_.max_beta) gradient = std::max(gradient, 0.0);
    TemperatureFit fit;
    fit.beta = point.x;
    fit.outcome.solver = "newton, third order, safeguarded";
    fit.outcome.status = status;
    fit.outcome.passes = passes_;
    fit.outcome.nll_after = point.value;
    fit.outcome.certificates = {
        {.gradient = std::fabs(gradient),
         .newton_decrement =
             point.curvature > 0.0 ? std::fabs(gradient) / std::sqrt(point.curvature) : 0.0,
         .bounded = bounded_,
         .voxels = problem_.voxels,
         .gap = {},
         .path = path_}};
    return fit;
  }

  const TemperatureProblem& problem_;
  const TemperatureOptions& options_;
  int64_t passes_;
  bool bounded_ = true;  // false: the likelihood grows without end
  std::vector<double> path_;
};

}  // namespace

TemperatureFit FitTemperature(const TemperatureProblem& problem,
                              const TemperatureOptions& options) {
  return TemperatureFitter(problem, options).Fit();
}

TemperatureFit FitTemperature(const FitContext& context, const TemperatureOptions& options) {
  const Survey& survey = context.survey;
  return FitTemperature(TemperatureProblem{.voxels = survey.labelled,
                                           .flat = survey.flat,
                                           .margins = survey.margins,
                                           .at_one = survey.at_one,
                                           .start_beta = survey.sample_beta,
                                           .at_start = survey.at_sample_beta,
                                           .passes = 1,
                                           .evaluate =
                                               [&context](const std::string& stage, double beta) {
                                                 return TemperaturePass(
                                                     context.stream, stage, context.pooling, beta);
                                               }},
                        options);
}

Claim NonNegativeBeta(double beta) {
  return {.what = "beta is at least 0",
          .property = "preserves",
          .found = beta,
          .allowed = 0.0,
          .holds = beta >= 0.0};
}

void CheckBeta(double beta, const TemperatureOptions& options, const std::string& where) {
  if (beta >= 0.0 && beta <= options.max_beta) return;
  Throw(ErrorCode::kBadData,
        "{}: beta is {}, a value in [0, {}] is required",
        where,
        beta,
        options.max_beta);
}

}  // namespace segcal
