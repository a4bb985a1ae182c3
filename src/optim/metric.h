// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "optim/box.h"

namespace segcal {

// What is known about the curvature of a function: a positive definite matrix B that steps are
// measured with, and that learns from differences of gradients.
class Metric {
 public:
  virtual ~Metric() = default;
  // A step from `point` that descends g d + d B d / 2; it may lead out of the box.
  virtual std::vector<double> Step(const Box& box,
                                   const std::vector<double>& point,
                                   const std::vector<double>& gradient) const = 0;
  // Changes B so that it maps `move` to `change`, the difference of gradients; skipped where the
  // curvature along the move is not positive.
  virtual void Learn(const std::vector<double>& move, const std::vector<double>& change) = 0;
};

// A full Hessian, row by row, corrected by Broyden-Fletcher-Goldfarb-Shanno updates.
std::unique_ptr<Metric> MakeDenseMetric(std::vector<double> hessian);

// A diagonal and the last `memory` pairs (limited-memory BFGS): for more variables than a full
// matrix can be kept for.
std::unique_ptr<Metric> MakeLimitedMetric(std::vector<double> diagonal, int memory);

// The step from `point` to the minimum of g d + d H d / 2 over the box. `hessian` is symmetric
// positive semi-definite, row by row; `damping`, relative to its largest diagonal entry, makes it
// definite.
std::vector<double> NewtonStep(const std::vector<double>& hessian,
                               const Box& box,
                               const std::vector<double>& point,
                               const std::vector<double>& gradient,
                               double damping);

}  // namespace segcal
