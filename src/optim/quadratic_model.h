// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "optim/box.h"

namespace segcal {

// What is known about the curvature of a function: a positive definite matrix B that steps are
// measured with, and that learns from differences of gradients.
class QuadraticModel {
 public:
  virtual ~QuadraticModel() = default;
  // The step from `point` to the minimum of g d + d B d / 2 over the box. `damping`, relative to
  // the largest entry of B, is added to its diagonal.
  virtual std::vector<double> Step(const Box& box,
                                   const std::vector<double>& point,
                                   const std::vector<double>& gradient,
                                   double damping) const = 0;
  // Changes B so that it maps `move` to `change`, the difference of gradients (the update of
  // Broyden, Fletcher, Goldfarb and Shanno), or nearly so where that has far less curvature than
  // was known; skipped where the curvature along the move is not positive.
  virtual void Update(const std::vector<double>& move, const std::vector<double>& change) = 0;
};

}  // namespace segcal
