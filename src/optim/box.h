// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace segcal {

// Bounds of a vector of variables; equal bounds fix a variable.
struct Box {
  std::vector<double> lower;
  std::vector<double> upper;

  void Clamp(std::vector<double>* x) const noexcept;
  // Variables that a small step against the gradient moves: not fixed, not pressed against a bound.
  std::vector<char> Free(const std::vector<double>& x, const std::vector<double>& gradient) const;
  // Euclidean norm of clamp(x - gradient) - x: zero exactly at a minimum of a convex function.
  double ProjectedNorm(const std::vector<double>& x,
                       const std::vector<double>& gradient) const noexcept;
  // How far a function whose curvature is nowhere below `convexity` can be above its minimum at
  // most: minus the minimum over the box of g d + convexity/2 d^2.
  double Gap(const std::vector<double>& x,
             const std::vector<double>& gradient,
             double convexity) const noexcept;
};

// A value with its gradient.
struct Value {
  double value = 0.0;
  std::vector<double> gradient;
};

}  // namespace segcal
