// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/mixture_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/exact_sum.h"
#include "core/throw.h"
#include "data/reduce.h"
#include "methods/shared/temperature_fit.h"
#include "optim/simplex_newton.h"

namespace segcal {
namespace {

using Eigen::VectorXd;

// T and beta lie in [1e-6, 1e6]: beyond, softmax(z / T) is one-hot or uniform to rounding.
constexpr double kMaxTemperature = 1e6;
const double kLogBound = std::log(kMaxTemperature);
// Weight that each idle part gets before the first step: at exactly 0 its ratio r_k can be
// astronomic, and Newton's method would only double the weight in every step.
constexpr double kFirstWeight = 0.01;

// MixtureSums over blocks in any order, with the same bits. Terms are scaled by 2^-24 so that even
// sums of cut ratios (kernels/mixture.h) fit.
class MixtureTotals {
 public:
  MixtureSums* pending() noexcept { return &pending_; }
  void Flush() noexcept {
    count_ += pending_.count;
    for (size_t k = 0; k < sums_.size(); ++k) sums_[k].Add(0x1p-24 * pending_.terms[k]);
    pending_ = {};
  }
  static constexpr auto SumFields() {
    return std::tuple(&MixtureTotals::count_, &MixtureTotals::sums_);
  }
  int64_t count() const noexcept { return count_; }
  double mean(int term) const noexcept {
    return 0x1p24 * sums_[static_cast<size_t>(term)].value() / static_cast<double>(count_);
  }

 private:
  MixtureSums pending_;
  int64_t count_ = 0;
  std::array<ExactSum, kMixtureTerms> sums_;
};

Mixture UnpackMixture(const VectorXd& x) {
  // exp does not undo log to the last bit, and a model file refuses what is past the bound.
  return {.beta = std::clamp(std::exp(-x(0)), 1.0 / kMaxTemperature, kMaxTemperature),
          .weights = {x(1), x(2), x(3)}};
}

VectorXd PackPoint(double log_t, double w0, double w1, double w2) {
  VectorXd x(4);
  x << std::clamp(log_t, -kLogBound, kLogBound), w0, w1, w2;
  return x;
}

// The mean loss (ET2), its gradient (ET3-ET5) and its Hessian (ET6-ET8) in (log T, w).
SimplexPoint Derivatives(const VectorXd& x, const MixtureTotals& totals) {
  const auto mean = [&](int term) { return totals.mean(term); };
  const double beta = std::exp(-x(0));
  const double w = x(1);
  SimplexPoint at{x, mean(kMixtureLoss), VectorXd(4), Eigen::MatrixXd(4, 4)};
  at.gradient << w * beta * mean(kMixtureD), -mean(kMixtureR0), -mean(kMixtureR1),
      -mean(kMixtureR2);
  const double r[3][3] = {{mean(kMixtureR00), mean(kMixtureR01), mean(kMixtureR02)},
                          {mean(kMixtureR01), mean(kMixtureR11), mean(kMixtureR12)},
                          {mean(kMixtureR02), mean(kMixtureR12), mean(kMixtureR22)}};
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < 3; ++k) at.hessian(j + 1, k + 1) = r[j][k];
    const double own = j == 0 ? beta * mean(kMixtureD) : 0.0;
    at.hessian(0, j + 1) = at.hessian(j + 1, 0) = own - w * beta * mean(kMixtureD0 + j);
  }
  const double square = beta * beta;
  at.hessian(0, 0) = w * w * square * mean(kMixtureDD) - w * beta * mean(kMixtureD) -
                     w * square * mean(kMixtureBend);
  return at;
}

class MixtureFitter {
 public:
  MixtureFitter(const FitContext& context, const MixtureOptions& options)
      : context_(context), options_(options), ts_(FitTemperature(context, {})) {}

  MixtureFit Fit() {
    path_ = ts_.outcome.certificates[0].path;
    passes_ = ts_.outcome.passes;
    if (ts_.outcome.status == FitStatus::kNothingToFit) return AsTemperature();
    if (!ts_.outcome.certificates[0].bounded) return AsTemperature();
    return Finish(
        MinimizeOnSimplex([this](const VectorXd& x) { return OnAll(x); },
                          BestStart(),
                          Options(options_.gradient_tolerance, Noise(context_.survey.labelled))));
  }

 private:
  // Temperature scaling as a mixture: at beta = 0 it is the uniform part.
  VectorXd TemperatureCorner(double idle) const {
    const double main = 1.0 - 2.0 * idle;
    if (ts_.beta <= 0.0) return PackPoint(0.0, idle, idle, main);
    return PackPoint(-std::log(ts_.beta), main, idle, idle);
  }

  SimplexPoint OnAll(const VectorXd& x) {
    ++passes_;
    const Mixture mixture = UnpackMixture(x);
    const auto add = [&](const Tile& tile, int64_t, MixtureTotals* totals) {
      AddMixtureSums(tile, mixture, totals->pending());
    };
    const std::string stage = fmt::format("fit ets, pass {}", passes_);
    SimplexPoint at =
        Derivatives(x, ReduceTiles(context_.stream, stage, context_.pooling, MixtureTotals{}, add));
    path_.push_back(at.value);
    return at;
  }

  SimplexPoint OnSample(const VectorXd& x) const {
    const Mixture mixture = UnpackMixture(x);
    const auto add = [&](const Tile& tile, MixtureTotals* totals) {
      AddMixtureSums(tile, mixture, totals->pending());
    };
    return Derivatives(
        x, ReduceTiles(context_.sample, context_.stream.num_workers(), MixtureTotals{}, add));
  }

  int64_t LabelledInSample() const {
    int64_t count = 0;
    for (int64_t t = 0; t < context_.sample.num_tiles(); ++t) {
      const int32_t* labels = context_.sample.tile(t).labels;
      count += kTileVoxels - std::count(labels, labels + kTileVoxels, kNoLabel);
    }
    return count;
  }

  // The sample's minimiser, evaluated on all voxels, unless temperature scaling alone is better.
  SimplexPoint BestStart() {
    VectorXd x = TemperatureCorner(kFirstWeight);
    if (const int64_t n = LabelledInSample(); n > 0) {
      const auto evaluate = [this](const VectorXd& at) { return OnSample(at); };
      x = MinimizeOnSimplex(evaluate, OnSample(x), Options(1e-5, Noise(n))).point.x;
    }
    const SimplexPoint start = OnAll(x);
    const double allowed = ts_.outcome.nll_after + Noise(context_.survey.labelled);
    return start.value <= allowed ? start : OnAll(TemperatureCorner(0.0));
  }

  // Rounding errors of a mean of n float32 terms: they hardly add up, but for a small common part.
  static double Noise(int64_t n) { return 1e-9 + 2e-7 / std::sqrt(static_cast<double>(n)); }

  SimplexNewtonOptions Options(double gradient_tolerance, double noise) const {
    return {.lower = -kLogBound,
            .upper = kLogBound,
            .gradient_tolerance = gradient_tolerance,
            .noise = noise,
            .smallest_weight = kSmallestWeight,
            .max_evaluations = options_.max_iterations};
  }

  // No weight can help where temperature scaling has nothing to fit, or where every label is the
  // argmax: r_1 and r_2 are at most 1 at every voxel.
  MixtureFit AsTemperature() const {
    MixtureFit fit{.mixture = {.beta = ts_.beta}, .outcome = ts_.outcome};
    fit.outcome.solver = kSolver;
    return fit;
  }

  MixtureFit Finish(const SimplexNewtonResult& result) const {
    const SimplexPoint& at = result.point;
    const bool at_bound = result.converged && at.x(1) > 0.0 && std::fabs(at.x(0)) == kLogBound;
    MixtureFit fit;
    fit.mixture = UnpackMixture(at.x);
    fit.outcome.solver = kSolver;
    fit.outcome.status = at_bound           ? FitStatus::kAtBound
                         : result.converged ? FitStatus::kConverged
                                            : FitStatus::kNotConverged;
    fit.outcome.passes = passes_;
    fit.outcome.nll_after = at.value;
    fit.outcome.certificates = {{.gradient = result.projected_gradient,
                                 .newton_decrement = result.newton_decrement,
                                 .bounded = true,
                                 .voxels = context_.survey.labelled,
                                 .gap = {},
                                 .path = path_}};
    if (at_bound) fit.outcome.warnings.emplace_back("the temperature is at the end of its range");
    if (!result.converged) {
      fit.outcome.warnings.push_back(
          fmt::format("no convergence in {} passes: the projected gradient is {}",
                      passes_,
                      result.projected_gradient));
    }
    return fit;
  }

  static constexpr const char* kSolver = "newton on log T and weights, projected";

  const FitContext& context_;
  const MixtureOptions& options_;
  const TemperatureFit ts_;
  int64_t passes_ = 0;
  std::vector<double> path_;
};

}  // namespace

MixtureFit FitMixture(const FitContext& context, const MixtureOptions& options) {
  return MixtureFitter(context, options).Fit();
}

}  // namespace segcal
