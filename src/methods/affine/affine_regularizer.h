// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "methods/affine/affine_shape.h"
#include "optim/box.h"

namespace segcal {

// Strengths of the penalty on an affine map W z + b (A4):
//   lambda / (C (C-1)) sum_{j != k} W_jk^2 + mu / C sum_j b_j^2 + kappa (|W - anchor I|^2 + |b|^2)
struct Penalty {
  double lambda = 0.0;
  double mu = 0.0;
  double kappa = 1e-4;
  double anchor = 1.0;
  // As published (A11): the mean over the experts instead of their sum, and of gaps that of the
  // map which leaves the winner's score as it is.
  bool paper = false;
};

// The penalty as a function of one expert's parameters. It is on the assembled W and b of the
// logits themselves, in class or canonical order, whatever the parameters are; W = 1c^T + M P X and
// b = c0 1 + M p for parameters P, p, features X z and scores M rows. c and c0 do not change
// probabilities: the penalty takes their best value, in closed form (A5), or for gaps in the
// published form the fixed one c = e_0, c0 = 0.
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

  // The assembled map with its c and c0: [class or position][class or position], and bias.
  struct Assembled {
    std::vector<double> weights;
    std::vector<double> bias;
  };
  Assembled Assemble(const std::vector<double>& parameters) const;

 private:
  struct Target {
    double strength;  // of the squared distance
    double value;     // what it is to
    double least;     // what is left at it
  };
  Target TargetOf(int64_t row, int64_t column) const noexcept;
  double Gauge(const std::vector<double>& weights, int64_t column) const;
  double OffDiagonal() const noexcept;
  double BiasStrength() const noexcept;

  void BiasAtZero(Assembled* map) const;
  void LocateSlopes(Assembled* slopes) const;
  void AddBiasAtZero(std::vector<double>* products) const;
  double LeastStretch() const;

  AffineShape shape_;
  Penalty penalty_;
  bool fixed_gauge_;
  double winner_ = 1.0;  // the winner's weight of itself at the fixed gauge; 0: the linear part
};

}  // namespace segcal
