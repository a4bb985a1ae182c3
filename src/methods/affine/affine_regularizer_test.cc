// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_regularizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "methods/affine/affine_for_test.h"
#include "optim/decompositions.h"

namespace segcal {
namespace {

class EveryPenalty : public AffineSpaceTest {};
class EveryFullPenalty : public AffineSpaceTest {};

const Penalty kPenalty{.lambda = 0.3, .mu = 0.2, .kappa = 0.05, .anchor = 0.8};

Penalty PaperPenalty() {
  Penalty penalty = kPenalty;
  penalty.paper = true;
  return penalty;
}

void ExpectDerivatives(const AffineRegularizer& regularizer, const std::vector<double>& p) {
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

TEST_P(EveryPenalty, HasTheGradientAndHessianOfItsValue) {
  ExpectDerivatives(AffineRegularizer(shape(), kPenalty), RandomParameters(13));
}
TEST_P(EveryPenalty, HasTheGradientAndHessianOfItsValueAsPublished) {
  ExpectDerivatives(AffineRegularizer(shape(), PaperPenalty()), RandomParameters(13));
}

// [position][position, then bias] of the map as the paper builds it: the winner's score stays,
// every other is that minus its gaps.
std::vector<std::vector<double>> PublishedMap(const AffineShape& shape,
                                              const std::vector<double>& parameters) {
  const bool sorted = shape.space == AffineSpace::kSortedGaps;
  std::vector<std::vector<double>> rows(kClasses, std::vector<double>(kClasses + 1, 0.0));
  rows[0][0] = 1.0;
  for (size_t j = 1; j < kClasses; ++j) {
    rows[j] = rows[sorted ? j - 1 : 0];
    for (size_t k = 1; k < kClasses; ++k) {
      const double a = parameters[(j - 1) * kClasses + k - 1];
      rows[j][sorted ? k - 1 : 0] -= a;
      rows[j][k] += a;
    }
    rows[j][kClasses] -= parameters[j * kClasses - 1];
  }
  return rows;
}

// (A11). Of maps without gaps every gauge is the paper's, and the best is the minimum.
TEST_P(EveryFullPenalty, IsThatOfTheMapThatLeavesTheWinnerAsPublished) {
  const std::vector<double> p = RandomParameters(23);
  const double found = AffineRegularizer(shape(), PaperPenalty()).Evaluate(p).value;
  const auto experts = static_cast<double>(shape().num_experts());
  if (!shape().gaps()) {
    EXPECT_NEAR(found, AffineRegularizer(shape(), kPenalty).Evaluate(p).value / experts, 1e-12);
    return;
  }
  const auto w = PublishedMap(shape(), p);
  const auto anchor = PublishedMap(shape(), ScaledIdentity(shape(), kPenalty.anchor));
  const double n = kClasses;
  double expected = 0.0;
  for (size_t j = 0; j < kClasses; ++j) {
    for (size_t k = 0; k < kClasses; ++k) {
      const double d = w[j][k] - anchor[j][k];
      expected += kPenalty.kappa * d * d;
      if (j != k) expected += kPenalty.lambda / (n * (n - 1)) * w[j][k] * w[j][k];
    }
    expected += (kPenalty.mu / n + kPenalty.kappa) * w[j][kClasses] * w[j][kClasses];
  }
  EXPECT_NEAR(found, expected / experts, 1e-12);
}

// With two classes the off-diagonal weight is 1 - A: lambda pulls to the identity.
TEST(PublishedPenalty, PullsTwoClassesToTheIdentity) {
  const AffineShape shape{
      .space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = 2};
  const Penalty penalty{.lambda = 0.3, .mu = 0.0, .kappa = 0.0, .anchor = 1.0, .paper = true};
  const AffineRegularizer regularizer(shape, penalty);
  EXPECT_NEAR(regularizer.Evaluate({0.4, 0.0}).value, 0.5 * 0.15 * 0.36, 1e-15);
  EXPECT_EQ(regularizer.Evaluate({1.0, 0.0}).value, 0.0);
  EXPECT_LT(regularizer.Evaluate({0.4, 0.0}).gradient[0], 0.0);
  // At the best gauge it is nothing: W_00 and W_11 are free.
  Penalty ours = penalty;
  ours.paper = false;
  EXPECT_NEAR(AffineRegularizer(shape, ours).Evaluate({0.4, 0.0}).value, 0.0, 1e-15);
}

class EveryHeldPenalty : public AffineSpaceTest {
 protected:
  void ExpectFactors(bool paper) const;
};

void EveryHeldPenalty::ExpectFactors(bool paper) const {
  Penalty penalty = paper ? PaperPenalty() : kPenalty;
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

TEST_P(EveryHeldPenalty, HasTheProductsAndFactorsOfItsHessian) { ExpectFactors(/*paper=*/false); }
TEST_P(EveryHeldPenalty, HasThemAsPublished) { ExpectFactors(/*paper=*/true); }

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

INSTANTIATE_TEST_SUITE_P(Spaces,
                         EveryHeldPenalty,
                         ::testing::ValuesIn(FullFamilies()),
                         NameOfFamily);
INSTANTIATE_TEST_SUITE_P(Spaces, EveryPenalty, ::testing::ValuesIn(kFamilies), NameOfFamily);
INSTANTIATE_TEST_SUITE_P(Spaces,
                         EveryFullPenalty,
                         ::testing::ValuesIn(FullFamilies()),
                         NameOfFamily);

}  // namespace
}  // namespace segcal
