// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "methods/affine/affine_space.h"
#include "optim/box.h"

namespace segcal {

// Strengths of the penalty on an affine map W z + b (A4):
//   lambda / (C (C-1)) sum_{j != k} W_jk^2 + mu / C sum_j b_j^2 + kappa (|W - anchor I|^2 + |b|^2)
struct Penalty {
  double lambda = 0.0;
  double mu = 0.0;
  double kappa = 1e-4;
  double anchor = 1.0;
};

// The penalty as a function of one expert's parameters. It is on the assembled W and b, in class or
// canonical order, whatever the parameters are; W = 1c^T + M P X and b = c0 1 + M p for parameters
// P, p, features X z and scores M rows. c and c0 do not change probabilities: the penalty takes
// their best value, in closed form (A5).
class AffineRegularizer {
 public:
  AffineRegularizer(const AffineShape& shape, const Penalty& penalty);

  // Convex and quadratic.
  Value Evaluate(const std::vector<double>& parameters) const;
  std::vector<double> Hessian() const;
  // Its product with a direction.
  std::vector<double> Product(const std::vector<double>& direction) const;
  // About its Hessian, as if the diagonal of W were held like the rest: between (row r, feature j)
  // and (row s, feature k) it is RowCurvature(r, s) FeatureCurvature()[j][k].
  double RowCurvature(int64_t r, int64_t s) const noexcept;
  std::vector<double> FeatureCurvature() const;
  // The least curvature along directions that change probabilities.
  double Convexity() const;

  // The assembled map with the best c and c0: [class or position][class or position], and bias.
  struct Assembled {
    std::vector<double> weights;
    std::vector<double> bias;
  };
  Assembled Assemble(const std::vector<double>& parameters) const;

 private:
  double Gauge(const std::vector<double>& weights, int64_t column) const;
  double OffDiagonal() const noexcept;
  double BiasStrength() const noexcept;

  AffineShape shape_;
  Penalty penalty_;
};

}  // namespace segcal
