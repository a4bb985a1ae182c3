// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "optim/metric.h"

namespace segcal {

// A function of a vector that is linear in it.
using Product = std::function<std::vector<double>(const std::vector<double>& vector)>;

// About the inverse of a matrix.
class AboutInverse {
 public:
  virtual ~AboutInverse() = default;
  // Products with about the inverse of what the matrix is on the free variables; zero for the
  // others.
  virtual Product On(const std::vector<char>& free) const = 0;
};

// A matrix too large to be kept. What is known about its inverse is made for one step at a time.
struct ImplicitMatrix {
  Product multiply;
  std::function<std::unique_ptr<AboutInverse>()> about_inverse;
};
// Steps come from conjugate gradients and end short of the minimum; `damping` does nothing, since a
// short step is damped.
std::unique_ptr<Metric> MakeImplicitMetric(ImplicitMatrix matrix);

}  // namespace segcal
