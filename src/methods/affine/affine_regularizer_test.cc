// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_regularizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "methods/affine/test_affine.h"
#include "optim/decompositions.h"

namespace segcal {
namespace {

class EveryPenalty : public AffineSpaceTest {};
class EveryFullPenalty : public AffineSpaceTest {};

const Penalty kPenalty{.lambda = 0.3, .mu = 0.2, .kappa = 0.05, .anchor = 0.8};

TEST_P(EveryPenalty, HasTheGradientAndHessianOfItsValue) {
  const AffineRegularizer regularizer(shape(), kPenalty);
  const std::vector<double> p = RandomParameters(13);
  const Value here = regularizer.Evaluate(p);
  const std::vector<double> hessian = regularizer.Hessian();
  const double h = 1e-4;
  for (size_t i = 0; i < p.size(); ++i) {
    std::vector<double> low = p;
    std::vector<double> high = p;
    low[i] -= h;
    high[i] += h;
    const Value below = regularizer.Evaluate(low);
    const Value above = regularizer.Evaluate(high);
    EXPECT_NEAR(here.gradient[i], (above.value - below.value) / (2 * h), 1e-9);
    for (size_t j = 0; j < p.size(); ++j) {
      EXPECT_NEAR(
          hessian[i * p.size() + j], (above.gradient[j] - below.gradient[j]) / (2 * h), 1e-9);
    }
  }
}

TEST_P(EveryFullPenalty, HasTheProductsAndFactorsOfItsHessian) {
  Penalty penalty = kPenalty;
  penalty.lambda = 0.0;  // all weights are held alike
  const AffineRegularizer regularizer(shape(), penalty);
  const std::vector<double> hessian = regularizer.Hessian();
  const std::vector<double> direction = RandomParameters(19);
  const std::vector<double> product = regularizer.Product(direction);
  const std::vector<double> of_features = regularizer.FeatureCurvature();
  const auto features = static_cast<size_t>(shape().num_features());
  for (size_t i = 0; i < direction.size(); ++i) {
    double expected = 0.0;
    for (size_t j = 0; j < direction.size(); ++j)
      expected += hessian[i * direction.size() + j] * direction[j];
    EXPECT_NEAR(product[i], expected, 1e-12);
    for (size_t j = 0; j < direction.size(); ++j) {
      const double of_rows = regularizer.RowCurvature(static_cast<int64_t>(i / features),
                                                      static_cast<int64_t>(j / features));
      EXPECT_NEAR(of_rows * of_features[i % features * features + j % features],
                  hessian[i * direction.size() + j],
                  1e-12);
    }
  }
}

// The gauge (A5) is a minimum: no other shift of a column or of the bias costs less.
TEST_P(EveryPenalty, TakesTheBestGauge) {
  const AffineRegularizer regularizer(shape(), kPenalty);
  const std::vector<double> p = RandomParameters(17);
  const AffineRegularizer::Assembled map = regularizer.Assemble(p);
  const double n = kClasses;
  const auto cost = [&](size_t column, double shift, double bias_shift) {
    double value = 0.0;
    for (size_t j = 0; j < kClasses; ++j) {
      for (size_t k = 0; k < kClasses; ++k) {
        const double w = map.weights[j * kClasses + k] + (k == column ? shift : 0.0);
        const double d = j == k ? w - kPenalty.anchor : w;
        value += kPenalty.kappa * d * d;
        if (j != k) value += kPenalty.lambda / (n * (n - 1)) * w * w;
      }
      const double b = map.bias[j] + bias_shift;
      value += (kPenalty.mu / n + kPenalty.kappa) * b * b;
    }
    return value;
  };
  EXPECT_NEAR(regularizer.Evaluate(p).value, cost(0, 0.0, 0.0), 1e-12);
  for (const double shift : {-0.01, 0.01}) {
    EXPECT_GT(cost(0, 0.0, shift), cost(0, 0.0, 0.0));
    if (shape().diagonal) continue;
    for (size_t k = 0; k < kClasses; ++k) EXPECT_GT(cost(k, shift, 0.0), cost(k, 0.0, 0.0));
  }
}

// (A8): the smallest curvature of the penalty that is not that of a gauge is no less than stated.
TEST_P(EveryFullPenalty, IsAsConvexAsStated) {
  for (const double lambda : {0.0, 0.3}) {
    Penalty penalty = kPenalty;
    penalty.lambda = penalty.mu = lambda;
    const AffineRegularizer regularizer(shape(), penalty);
    const auto n = static_cast<Eigen::Index>(shape().num_parameters());
    const std::vector<double> h = regularizer.Hessian();
    const Eigen::Map<const Eigen::MatrixXd> hessian(h.data(), n, n);
    const Eigen::VectorXd eigenvalues = DecomposeSymmetric(hessian).values;
    double least = 1e300;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (eigenvalues[i] > 1e-12) least = std::min(least, eigenvalues[i]);
    }
    EXPECT_GE(least, regularizer.Convexity() * (1.0 - 1e-9));
    if (lambda == 0.0) {
      EXPECT_NEAR(least, regularizer.Convexity(), 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spaces, EveryPenalty, ::testing::ValuesIn(kFamilies), NameOfFamily);
INSTANTIATE_TEST_SUITE_P(Spaces,
                         EveryFullPenalty,
                         ::testing::ValuesIn(FullFamilies()),
                         NameOfFamily);

}  // namespace
}  // namespace segcal
