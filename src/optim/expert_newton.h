// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "optim/box.h"
#include "optim/implicit_model.h"
#include "optim/quadratic_model.h"

namespace segcal {

// Minimises independent convex functions, one per expert, whose exact values come all at once and
// are expensive (a pass over the data), and of which a cheap model with curvature exists (a
// sample).
struct ExpertProblem {
  // Exact value and gradient of every expert's function.
  std::function<std::vector<Value>(const std::vector<std::vector<double>>& points)> evaluate;
  // Value and gradient of the cheap model of one expert. Thread-safe, like its curvature, which may
  // share a preconditioner (null: not) with others of the same expert.
  std::function<Value(int64_t expert, const std::vector<double>& point)> model;
  std::function<std::unique_ptr<QuadraticModel>(
      int64_t expert, const std::vector<double>& point, std::shared_ptr<SharedPreconditioner>)>
      model_curvature;
  Box box;  // the same for every expert
};

struct SolverOptions {
  double gradient_tolerance = 1e-6;  // of the projected gradient
  double model_tolerance = 0.0;      // of the model's, where that is larger
  // [expert]: the model is the function itself, so that there is no reason to stop short of the
  // minimum; empty: of none.
  std::vector<char> whole_model = {};
  // Where positive: also at most this share of what it was at the start, but for least_tolerance. A
  // start that is good enough for something else would not move otherwise.
  double start_share = 0.0;
  double least_tolerance = 1e-6;
  int64_t max_passes = 50;
  int num_threads = 1;
  bool skip_model = false;  // start is near enough: take the model's curvature there and go on
};

struct ExpertSolution {
  std::vector<double> point;
  double value = 0.0;
  std::vector<double> gradient;
  double residual = 0.0;   // norm of the projected gradient
  double decrement = 0.0;  // about sqrt(g^T B^-1 g) on the free variables
  bool converged = false;
  std::vector<double> path;  // the value after each pass
};

struct SolverResult {
  std::vector<ExpertSolution> experts;
  int64_t passes = 0;
};

// 1. Damped Newton on the model, each expert on its own.
// 2. Exact gradients with the model's curvature as quadratic model, with secant updates,
//    with a line search; experts share passes and stop on their own,
//    also where they gain nothing.
SolverResult SolveExperts(const ExpertProblem& problem,
                          const std::vector<std::vector<double>>& start,
                          const SolverOptions& options);

}  // namespace segcal
