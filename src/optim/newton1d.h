// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace segcal {

// A convex function of one variable at x, with its first three derivatives.
struct Point1D {
  double x = 0.0;
  double value = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
  double third = 0.0;
};

struct Newton1DOptions {
  double lower = 0.0;
  double upper = 1.0;
  // Both must hold: a flat function has a small slope far from its minimum.
  double slope_tolerance = 1e-6;
  double step_tolerance = 1e-7;  // relative to x
  int64_t max_evaluations = 100;
};

enum class Newton1DStatus { kConverged, kAtLower, kAtUpper, kNotConverged };

struct Newton1DResult {
  Point1D point;
  Newton1DStatus status = Newton1DStatus::kNotConverged;
  int64_t evaluations = 0;  // beyond the starting point
};

// Minimises a convex function on [lower, upper] from a point already evaluated. Steps use the third
// derivative (cubic convergence: an evaluation is a pass over the data, a derivative is not) and
// are kept inside the bracket that the signs of the slopes give; a step that leaves it is replaced
// by the bound itself, once, then by bisection of the bracket, on a logarithmic scale where lower
// >= 0.
Newton1DResult MinimizeConvex1D(const std::function<Point1D(double x)>& evaluate,
                                const Point1D& start,
                                const Newton1DOptions& options);

}  // namespace segcal
