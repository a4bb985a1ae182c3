// SPDX-License-Identifier: Apache-2.0
#include "optim/expert_newton.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "optim/metric.h"

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
constexpr int kMaxLimitedSteps = 300;
constexpr int kLimitedMemory = 12;

// Passes after which the metric is taken from the model again, where we are.
constexpr int64_t kRefreshPasses = 6;

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
    Value there = problem.model(expert, next);
    if (!Decreases(at->here, there, Difference(next, at->point))) continue;
    *at = {.point = std::move(next), .here = std::move(there)};
    return length;
  }
  return 0.0;
}

// Damped Newton on the model of one expert; returns the Hessian at the minimum.
std::unique_ptr<Metric> NewtonOnModel(const ExpertProblem& problem,
                                      int64_t expert,
                                      double tolerance,
                                      std::vector<double>* point) {
  Position at{.point = *point, .here = problem.model(expert, *point)};
  std::vector<double> hessian = problem.model_hessian(expert, at.point);
  double damping = 1e-8;
  for (int i = 0; i < kMaxNewtonSteps; ++i) {
    // The model is not the truth: more digits would be wasted on it.
    if (problem.box.ProjectedNorm(at.point, at.here.gradient) <= tolerance) break;
    const std::vector<double> step =
        NewtonStep(hessian, problem.box, at.point, at.here.gradient, damping);
    const double length = Search(problem, expert, step, &at);
    if (length == 0.0) break;
    damping = length == 1.0 ? std::max(1e-12, damping * 0.1) : damping * 10.0;
    hessian = problem.model_hessian(expert, at.point);
  }
  *point = std::move(at.point);
  return MakeDenseMetric(std::move(hessian));
}

// The same with limited memory; returns what it learned.
std::unique_ptr<Metric> LimitedOnModel(const ExpertProblem& problem,
                                       int64_t expert,
                                       double tolerance,
                                       std::vector<double>* point) {
  Position at{.point = *point, .here = problem.model(expert, *point)};
  auto metric = MakeLimitedMetric(problem.model_diagonal(expert, at.point), kLimitedMemory);
  for (int i = 0; i < kMaxLimitedSteps; ++i) {
    if (problem.box.ProjectedNorm(at.point, at.here.gradient) <= tolerance) break;
    const Position before = at;
    const std::vector<double> step = metric->Step(problem.box, at.point, at.here.gradient);
    if (Search(problem, expert, step, &at) == 0.0) break;
    metric->Learn(Difference(at.point, before.point),
                  Difference(at.here.gradient, before.here.gradient));
  }
  *point = std::move(at.point);
  return metric;
}

// One expert while exact passes go on.
struct Expert {
  std::vector<double> point;
  Value here;
  std::unique_ptr<Metric> metric;
  std::vector<double> trial;
  int cuts = 0;
  bool done = false;
  bool converged = false;
  std::vector<double> path;
};

void Propose(const ExpertProblem& problem, Expert* e) {
  const std::vector<double> step = e->metric->Step(problem.box, e->point, e->here.gradient);
  e->trial = Moved(problem.box, e->point, step, std::pow(kCut, e->cuts));
}

void CheckConvergence(const ExpertProblem& problem, double tolerance, Expert* e) {
  e->path.push_back(e->here.value);
  e->converged = problem.box.ProjectedNorm(e->point, e->here.gradient) <= tolerance;
  e->done = e->converged;
  e->cuts = 0;
  if (!e->done) Propose(problem, e);
}

// A metric taken at the model's minimum fits less and less as the point moves on.
void Refresh(const ExpertProblem& problem, int64_t expert, Expert* e) {
  e->metric = MakeDenseMetric(problem.model_hessian(expert, e->point));
  e->cuts = 0;
  Propose(problem, e);
}

// Takes in the exact value at the trial point and says where to look next.
void Advance(const ExpertProblem& problem, double tolerance, Value there, Expert* e) {
  const std::vector<double> move = Difference(e->trial, e->point);
  const bool decreases = Decreases(e->here, there, move);
  // Also on a rejected point the gradient teaches the metric.
  e->metric->Learn(move, Difference(there.gradient, e->here.gradient));
  if (decreases) {
    e->point = e->trial;
    e->here = std::move(there);
    CheckConvergence(problem, tolerance, e);
    return;
  }
  e->path.push_back(e->here.value);
  ++e->cuts;
  e->done = e->cuts == kMaxCuts;
  if (!e->done) Propose(problem, e);
}

ExpertSolution SolutionOf(const ExpertProblem& problem, Expert e) {
  const std::vector<double> step = e.metric->Step(problem.box, e.point, e.here.gradient);
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
  std::vector<Expert> experts(start.size());
  ParallelFor(num_experts, options.num_threads, [&](int64_t i, int) {
    Expert& e = experts[static_cast<size_t>(i)];
    e.point = start[static_cast<size_t>(i)];
    if (!problem.model_hessian) {
      e.metric = LimitedOnModel(problem, i, options.gradient_tolerance, &e.point);
    } else if (options.skip_model) {
      e.metric = MakeDenseMetric(problem.model_hessian(i, e.point));
    } else {
      e.metric = NewtonOnModel(problem, i, options.gradient_tolerance, &e.point);
    }
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
  for (size_t i = 0; i < experts.size(); ++i) {
    experts[i].here = std::move(values[i]);
    CheckConvergence(problem, options.gradient_tolerance, &experts[i]);
  }
  const auto all_done = [&] {
    return std::all_of(experts.begin(), experts.end(), [](const Expert& e) { return e.done; });
  };
  while (!all_done() && result.passes < options.max_passes) {
    values = evaluate();
    const bool refresh = problem.model_hessian && result.passes % kRefreshPasses == 0;
    ParallelFor(num_experts, options.num_threads, [&](int64_t i, int) {
      Expert& e = experts[static_cast<size_t>(i)];
      if (e.done) return;
      Advance(problem, options.gradient_tolerance, std::move(values[static_cast<size_t>(i)]), &e);
      if (!e.done && refresh) Refresh(problem, i, &e);
    });
  }
  for (Expert& e : experts) result.experts.push_back(SolutionOf(problem, std::move(e)));
  return result;
}

}  // namespace segcal
