// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/throw.h"
#include "methods/affine/affine_location.h"
#include "methods/affine/affine_problem.h"
#include "methods/affine/affine_search.h"
#include "methods/shared/temperature_fit.h"

namespace segcal {
namespace {

// Where the shrinkage points to need not be known better than this.
constexpr double kAnchorTolerance = 1e-4;

// Weights of a map that nothing holds grow slowly; beyond this they are on their way to infinity.
constexpr double kRunAway = 1e3;

// The temperature to shrink to; 1 where the data have none.
double FindAnchor(const AffineOptions& options, const FitContext& context, int64_t* passes) {
  if (options.anchor == "identity") return 1.0;
  const TemperatureFit fit =
      FitTemperature(context, {.gradient_tolerance = kAnchorTolerance, .max_iterations = 10});
  *passes += fit.outcome.passes - 1;  // the survey is counted already
  return fit.outcome.status == FitStatus::kAtBound ? 1.0 : fit.beta;
}

// Without shrinkage a class that never occurs, or separable ones, push the optimum to infinity.
bool IsBounded(const AffineProblem& problem,
               const AffineShape& shape,
               const Penalty& penalty,
               const ExpertSolution& solution,
               size_t expert) {
  if (penalty.kappa > 0.0 || problem.voxels()[expert] == 0) return true;
  if (problem.LacksClass(expert) || !solution.converged) return false;
  return std::all_of(solution.point.begin(), solution.point.end(), [&](double w) {
    return std::fabs(w) < kRunAway * shape.scale;
  });
}

Certificate MakeCertificate(const AffineProblem& problem,
                            const Box& box,
                            const AffineShape& shape,
                            const Penalty& penalty,
                            const ExpertSolution& solution,
                            size_t expert) {
  Certificate certificate{.gradient = solution.residual,
                          .newton_decrement = solution.decrement,
                          .bounded = IsBounded(problem, shape, penalty, solution, expert),
                          .voxels = problem.voxels()[expert],
                          .gap = {},
                          .path = solution.path};
  const double convexity =
      AffineRegularizer(shape, penalty).Convexity() * problem.PenaltyWeight(expert);
  if (convexity > 0.0) {
    certificate.gap = box.Gap(solution.point, solution.gradient, convexity);
  }
  return certificate;
}

void Conclude(const SolverResult& result, FitOutcome* outcome) {
  int64_t stuck = 0;
  int64_t endless = 0;
  for (size_t e = 0; e < result.experts.size(); ++e) {
    stuck += result.experts[e].converged ? 0 : 1;
    endless += outcome->certificates[e].bounded ? 0 : 1;
  }
  outcome->status = endless > 0 ? FitStatus::kUnbounded
                    : stuck > 0 ? FitStatus::kNotConverged
                                : FitStatus::kConverged;
  if (endless > 0) {
    outcome->warnings.push_back(
        fmt::format("{} of {} maps have no finite optimum (a class that never occurs, or separable "
                    "ones) and stand where the solver stopped; kappa > 0 gives them one",
                    endless,
                    result.experts.size()));
  }
  if (stuck > 0) {
    outcome->warnings.push_back(fmt::format("{} of {} maps have not converged after {} passes",
                                            stuck,
                                            result.experts.size(),
                                            outcome->passes));
  }
}

// A map that is not a number could be written and never read.
void CheckFinite(const AffineSolution& solution) {
  for (const ExpertSolution& expert : solution.result.experts) {
    const bool finite = std::isfinite(expert.residual) &&
                        std::all_of(expert.point.begin(), expert.point.end(), [](double w) {
                          return std::isfinite(w);
                        });
    if (finite) continue;
    Throw(ErrorCode::kBadData,
          "the fit came to values that are not finite: some logits are too large for sums of "
          "float32");
  }
}

// Where the penalty alone would put a map.
std::vector<double> StartingPoint(const AffineShape& shape, const Penalty& penalty) {
  return ScaledIdentity(shape, penalty.kappa > 0.0 ? penalty.anchor : 1.0);
}

}  // namespace

std::string WhyPenalised(const AffineShape& shape,
                         const std::vector<int64_t>& voxels,
                         const Dataset& dataset) {
  constexpr int64_t kPerParameter = 10;
  constexpr size_t kFewGroups = 10;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const int64_t count : voxels) {
    if (count > 0) fewest = std::min(fewest, count);
  }
  const int64_t free = shape.diagonal ? 2 * shape.num_rows() : shape.num_parameters();
  if (fewest < kPerParameter * free) {
    return fmt::format("{} labelled voxels are few for the {} parameters of {}",
                       fewest,
                       free,
                       voxels.size() > 1 ? "an expert" : "the map");
  }
  std::set<std::string> groups;
  for (const Case& c : dataset.cases)
    groups.insert(c.group.empty() ? "case " + c.id : "group " + c.group);
  if (groups.size() < kFewGroups) {
    return fmt::format("{} images or groups are few to learn more from; ts needs less",
                       groups.size());
  }
  return "more than that did not help on the cases it was chosen by; ts may do as well";
}

std::vector<double> ScaledIdentity(const AffineShape& shape, double beta) {
  std::vector<double> parameters(static_cast<size_t>(shape.num_parameters()), 0.0);
  const int64_t diagonal = std::min(shape.num_rows(), shape.num_features() - 1);
  for (int64_t k = 0; k < diagonal; ++k) {
    parameters[static_cast<size_t>(k * shape.num_features() + k)] = beta;
  }
  return ParametersAtCentre(shape, std::move(parameters));
}

FitOutcome FitAffine(const AffineShape& shape,
                     const Box& box,
                     const AffineOptions& options,
                     const FitContext& context,
                     ExpertParameters* parameters) {
  FitOutcome outcome;
  outcome.solver = "newton on a sample, then all voxels in its metric";
  outcome.passes = 2;  // survey and sample
  const double beta = FindAnchor(options, context, &outcome.passes);
  Penalty penalty{.lambda = options.lambda,
                  .mu = options.mu,
                  .kappa = options.kappa,
                  .anchor = beta,
                  .paper = options.penalty == "paper"};
  AffineProblem problem(shape, box, context);
  CheckProblemMemory(problem.bytes(), context.stream.memory());
  parameters->assign(static_cast<size_t>(shape.num_experts()), StartingPoint(shape, penalty));
  if (context.trials > 0) {
    outcome.search = SearchPenalty(shape, &problem, context, &penalty, parameters);
    if (outcome.search.chosen.contains("kappa") && penalty.kappa > kLargestPenalty / 2) {
      outcome.warnings.push_back(
          fmt::format("the chosen kappa, {}, is near the largest that is searched, {}, where the "
                      "map is close to "
                      "a temperature: {}",
                      penalty.kappa,
                      kLargestPenalty,
                      WhyPenalised(shape, problem.voxels(), context.stream.dataset())));
    }
    // Without voxels there is nothing to move an expert from where another penalty left it.
    for (size_t e = 0; e < parameters->size(); ++e) {
      if (problem.voxels()[e] == 0) (*parameters)[e] = StartingPoint(shape, penalty);
    }
  }
  AffineSolution solution =
      problem.Solve(penalty, *parameters, options.gradient_tolerance, options.max_passes);
  CheckFinite(solution);
  outcome.passes += solution.passes;
  outcome.nll_after = solution.nll;
  for (size_t e = 0; e < solution.result.experts.size(); ++e) {
    outcome.certificates.push_back(
        MakeCertificate(problem, box, shape, penalty, solution.result.experts[e], e));
  }
  Conclude(solution.result, &outcome);
  *parameters = std::move(solution.parameters);
  return outcome;
}

}  // namespace segcal
