// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "optim/quadratic_model.h"

namespace segcal {

// A function of a vector that is linear in it.
using Product = std::function<std::vector<double>(const std::vector<double>& vector)>;

// A matrix near one that is too large, and easy to invert.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  // Products with the inverse of what it is on the free variables; zero for the others.
  virtual Product Inverse(const std::vector<char>& free) const = 0;
  // The step from `point` to the minimum of g d + d B d / 2 over the box, B the preconditioner.
  virtual std::vector<double> Step(const Box& box,
                                   const std::vector<double>& point,
                                   const std::vector<double>& slope) const = 0;
};

// What the matrices of one function at points near each other may share, as long as it is open.
struct SharedPreconditioner {
  std::shared_ptr<const Preconditioner> made;
  int steps = 0;  // that took it
  bool is_open = true;
};

// A matrix too large to be kept. Its preconditioner is asked for once a step, and not kept.
struct ImplicitMatrix {
  // Its product with a vector; only the wanted entries need be right.
  std::function<std::vector<double>(const std::vector<double>& vector,
                                    const std::vector<char>& wanted)>
      multiply;
  std::function<std::shared_ptr<const Preconditioner>()> preconditioner;
};
// Steps come from conjugate gradients and end short of the minimum; `damping` does nothing, since a
// short step is damped.
std::unique_ptr<QuadraticModel> MakeImplicitModel(ImplicitMatrix matrix);

}  // namespace segcal
