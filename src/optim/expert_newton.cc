// SPDX-License-Identifier: Apache-2.0
#include "optim/expert_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.h"

namespace segcal {
namespace {

// Sufficient decrease of a line search, and the factor by which a step is cut.
constexpr double kDecrease = 1e-4;
constexpr double kCut = 0.25;
constexpr int kMaxCuts = 20;

// Relative noise of a value summed from float32 terms, and the slope a step may end with.
constexpr double kValueNoise = 1e-6;
constexpr double kOvershoot = 0.8;

constexpr int kMaxNewtonSteps = 40;

// A model that is the function itself is minimised to this share of the tolerance, so that its
// exact sums, added up in another order, are within it too.
constexpr double kWholeShare = 0.5;

// Relative damping that makes a semi-definite model definite without changing the step.
constexpr double kDamping = 1e-12;

// Passes after which the quadratic is taken from the model again, where we are.
constexpr int64_t kRefreshPasses = 6;

// An expert that has not come on in so many passes is at the rounding of its sums, or too slow to
// arrive: its residual has not halved, nor its value become lower by this, relative to its size.
constexpr int kIdlePasses = 10;
constexpr double kComesOn = 1e-5;

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> Difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> d(a.size());
  for (size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return d;
}

// clamp(point + length * step)
std::vector<double> Moved(const Box& box,
                          const std::vector<double>& point,
                          const std::vector<double>& step,
                          double length) {
  std::vector<double> moved(point.size());
  for (size_t i = 0; i < point.size(); ++i) moved[i] = point[i] + length * step[i];
  box.Clamp(&moved);
  return moved;
}

// Near the minimum the decrease drowns in the rounding of the value long before the gradient does.
// There the slopes at both ends of the move decide: their mean is the decrease, to second order.
bool Decreases(const Value& before, const Value& after, const std::vector<double>& move) {
  const double slope = Dot(before.gradient, move);
  if (after.value <= before.value + kDecrease * std::min(0.0, slope)) return true;
  if (after.value > before.value + kValueNoise * (1.0 + std::fabs(before.value))) return false;
  return Dot(after.gradient, move) <= kOvershoot * std::fabs(slope);
}

struct Position {
  std::vector<double> point;
  Value here;
};

// Goes along `step`, shortened until the model decreases; the length taken, 0 if none does.
double Search(const ExpertProblem& problem,
              int64_t expert,
              const std::vector<double>& step,
              Position* at) {
  double length = 1.0;
  for (int cut = 0; cut < kMaxCuts; ++cut, length *= kCut) {
    std::vector<double> next = Moved(problem.box, at->point, step, length);
    if (next == at->point) return 0.0;
    Value there = problem.model(expert, next);
    if (!Decreases(at->here, there, Difference(next, at->point))) continue;
    *at = {.point = std::move(next), .here = std::move(there)};
    return length;
  }
  return 0.0;
}

// Damped Newton on the model of one expert; returns the curvature at the minimum.
std::unique_ptr<QuadraticModel> NewtonOnModel(const ExpertProblem& problem,
                                              int64_t expert,
                                              double tolerance,
                                              std::vector<double>* point) {
  Position at{.point = *point, .here = problem.model(expert, *point)};
  const auto shared = std::make_shared<SharedPreconditioner>();
  std::unique_ptr<QuadraticModel> quadratic = problem.model_curvature(expert, at.point, shared);
  double damping = 1e-8;
  for (int i = 0; i < kMaxNewtonSteps; ++i) {
    // The model is not the truth: more digits would be wasted on it.
    if (problem.box.ProjectedNorm(at.point, at.here.gradient) <= tolerance) break;
    const std::vector<double> step =
        quadratic->Step(problem.box, at.point, at.here.gradient, damping);
    const double length = Search(problem, expert, step, &at);
    if (length == 0.0) break;
    damping = length == 1.0 ? std::max(kDamping, damping * 0.1) : damping * 10.0;
    quadratic = problem.model_curvature(expert, at.point, shared);
  }
  *shared = {.made = nullptr, .is_open = false};  // not of all experts at the same time
  *point = std::move(at.point);
  return quadratic;
}

// One expert while exact passes go on.
struct Expert {
  std::vector<double> point;
  Value here;
  std::unique_ptr<QuadraticModel> quadratic;
  std::vector<double> trial;
  double tolerance = 0.0;
  int cuts = 0;
  double last_residual = std::numeric_limits<double>::infinity();  // when it came on last
  double last_value = std::numeric_limits<double>::infinity();
  int idle = 0;  // passes since then
  bool done = false;
  bool converged = false;
  std::vector<double> path;
};

// Of an expert whose projected gradient has this norm at the start.
double ToleranceFrom(const SolverOptions& options, double start) {
  if (options.start_share <= 0.0) return options.gradient_tolerance;
  return std::min(options.gradient_tolerance,
                  std::max(options.least_tolerance, options.start_share * start));
}

// Says where to look next; done where no step leads away.
void Propose(const ExpertProblem& problem, Expert* e) {
  const std::vector<double> step =
      e->quadratic->Step(problem.box, e->point, e->here.gradient, kDamping);
  e->trial = Moved(problem.box, e->point, step, std::pow(kCut, e->cuts));
  e->done = e->trial == e->point;
}

void CheckConvergence(const ExpertProblem& problem, Expert* e) {
  e->path.push_back(e->here.value);
  const double residual = problem.box.ProjectedNorm(e->point, e->here.gradient);
  if (residual <= 0.5 * e->last_residual ||
      e->here.value < e->last_value - kComesOn * (1.0 + std::fabs(e->here.value))) {
    e->last_residual = std::min(e->last_residual, residual);
    e->last_value = e->here.value;
    e->idle = 0;
  }
  e->converged = residual <= e->tolerance;
  e->done = e->converged || e->idle >= kIdlePasses;
  e->cuts = 0;
}

// A quadratic taken at the model's minimum fits less and less as the point moves on.
void Refresh(const ExpertProblem& problem, int64_t expert, Expert* e) {
  e->quadratic = problem.model_curvature(expert, e->point, nullptr);
  e->cuts = 0;
}

// Takes in the exact value at the trial point.
void Advance(const ExpertProblem& problem, Value there, Expert* e) {
  ++e->idle;
  const std::vector<double> move = Difference(e->trial, e->point);
  const bool decreases = Decreases(e->here, there, move);
  // Also the gradient of a rejected point updates the quadratic.
  e->quadratic->Update(move, Difference(there.gradient, e->here.gradient));
  if (decreases) {
    e->point = e->trial;
    e->here = std::move(there);
    CheckConvergence(problem, e);
    return;
  }
  e->path.push_back(e->here.value);
  ++e->cuts;
  e->done = e->idle >= kIdlePasses;
}

ExpertSolution ExtractSolution(const ExpertProblem& problem, Expert e) {
  const std::vector<double> step =
      e.quadratic->Step(problem.box, e.point, e.here.gradient, kDamping);
  return {.point = e.point,
          .value = e.here.value,
          .gradient = e.here.gradient,
          .residual = problem.box.ProjectedNorm(e.point, e.here.gradient),
          .decrement = std::sqrt(std::max(0.0, -Dot(step, e.here.gradient))),
          .converged = e.converged,
          .path = std::move(e.path)};
}

}  // namespace

SolverResult SolveExperts(const ExpertProblem& problem,
                          const std::vector<std::vector<double>>& start,
                          const SolverOptions& options) {
  const auto num_experts = static_cast<int64_t>(start.size());
  const auto model_tolerance = [&](int64_t i) {
    const bool whole = !options.whole_model.empty() && options.whole_model[static_cast<size_t>(i)];
    return whole ? kWholeShare * options.gradient_tolerance
                 : std::max(options.gradient_tolerance, options.model_tolerance);
  };
  std::vector<Expert> experts(start.size());
  ParallelFor(num_experts, options.num_threads, [&](int64_t i, int) {
    Expert& e = experts[static_cast<size_t>(i)];
    e.point = start[static_cast<size_t>(i)];
    e.quadratic = options.skip_model ? problem.model_curvature(i, e.point, nullptr)
                                     : NewtonOnModel(problem, i, model_tolerance(i), &e.point);
    e.trial = e.point;
  });
  SolverResult result;
  const auto evaluate = [&] {
    std::vector<std::vector<double>> points;
    points.reserve(experts.size());
    for (const Expert& e : experts) points.push_back(e.done ? e.point : e.trial);
    ++result.passes;
    return problem.evaluate(points);
  };
  std::vector<Value> values = evaluate();
  ParallelFor(num_experts, options.num_threads, [&](int64_t i, int) {
    Expert& e = experts[static_cast<size_t>(i)];
    e.here = std::move(values[static_cast<size_t>(i)]);
    e.tolerance = ToleranceFrom(options, problem.box.ProjectedNorm(e.point, e.here.gradient));
    CheckConvergence(problem, &e);
    if (!e.done) Propose(problem, &e);
  });
  const auto all_done = [&] {
    return std::all_of(experts.begin(), experts.end(), [](const Expert& e) { return e.done; });
  };
  while (!all_done() && result.passes < options.max_passes) {
    values = evaluate();
    const bool refresh = result.passes % kRefreshPasses == 0;
    ParallelFor(num_experts, options.num_threads, [&](int64_t i, int) {
      Expert& e = experts[static_cast<size_t>(i)];
      if (e.done) return;
      Advance(problem, std::move(values[static_cast<size_t>(i)]), &e);
      if (!e.done && refresh) Refresh(problem, i, &e);
      if (!e.done) Propose(problem, &e);
    });
  }
  result.experts.resize(experts.size());
  ParallelFor(num_experts, options.num_threads, [&](int64_t i, int) {
    const auto e = static_cast<size_t>(i);
    result.experts[e] = ExtractSolution(problem, std::move(experts[e]));
  });
  return result;
}

}  // namespace segcal
