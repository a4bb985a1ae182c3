// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

namespace segcal {

// What is known about the curvature of a function: a positive definite matrix B that steps are
// measured with, and that learns from differences of gradients.
class Metric {
 public:
  virtual ~Metric() = default;
  // -B^-1 g on the free variables, 0 on the others.
  virtual std::vector<double> Step(const std::vector<double>& gradient,
                                   const std::vector<char>& free) const = 0;
  // Changes B so that it maps `move` to `change`, the difference of gradients; skipped where the
  // curvature along the move is not positive.
  virtual void Learn(const std::vector<double>& move, const std::vector<double>& change) = 0;
};

// A full Hessian, row by row, corrected by Broyden-Fletcher-Goldfarb-Shanno updates.
std::unique_ptr<Metric> MakeDenseMetric(std::vector<double> hessian);

// A diagonal and the last `memory` pairs (limited-memory BFGS): for more variables than a full
// matrix can be kept for.
std::unique_ptr<Metric> MakeLimitedMetric(std::vector<double> diagonal, int memory);

// The step -H^-1 g on the free variables, 0 on the others. `hessian` is symmetric positive
// semi-definite, row by row; `damping`, relative to its largest diagonal entry, makes it definite.
std::vector<double> NewtonStep(const std::vector<double>& hessian,
                               const std::vector<double>& gradient,
                               const std::vector<char>& free,
                               double damping);

}  // namespace segcal
