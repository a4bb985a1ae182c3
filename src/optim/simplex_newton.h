// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>

namespace segcal {

// A smooth function of x = (t, w_1 .. w_k) at one point: t in an interval, w on the simplex.
struct SimplexPoint {
  Eigen::VectorXd x;
  double value = 0.0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

struct SimplexNewtonOptions {
  double lower = 0.0;  // of t
  double upper = 1.0;
  // Both must hold: the projected gradient, and what the quadratic model still promises to gain.
  double gradient_tolerance = 1e-6;
  double decrease_tolerance = 1e-11;
  // How far rounding may make a value wrong: a smaller rise does not reject a step, a smaller gain
  // is not waited for.
  double noise = 0.0;
  // Weights below this are 0.
  double smallest_weight = 1e-10;
  int64_t max_evaluations = 100;
};

struct SimplexNewtonResult {
  SimplexPoint point;
  double projected_gradient = 0.0;  // largest entry of P(x - g) - x, P the projection on the set
  double newton_decrement = 0.0;
  bool converged = false;
  int64_t evaluations = 0;  // beyond the starting point
};

// The nearest point of { w >= 0, sum w = 1 }.
Eigen::VectorXd ProjectOnSimplex(const Eigen::VectorXd& w);

// Projected Newton: the quadratic model, made convex, is minimised exactly over the whole set by
// trying each of its faces (3 (2^k - 1), so k is small), then a backtracking search along the
// segment to that minimiser, which is feasible all the way. Values never rise by more than `noise`;
// a smooth function that is not convex ends at a stationary point.
SimplexNewtonResult MinimizeOnSimplex(
    const std::function<SimplexPoint(const Eigen::VectorXd& x)>& evaluate,
    const SimplexPoint& start,
    const SimplexNewtonOptions& options);

}  // namespace segcal
