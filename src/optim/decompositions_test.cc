// SPDX-License-Identifier: Apache-2.0
#include "optim/decompositions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace segcal {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Closed form: [[2, 1], [1, 2]] has the eigenvalues 1 and 3, of (1, -1) and (1, 1).
TEST(DecomposeSymmetric, FindsTheAxesOfAnEllipse) {
  const SymmetricParts parts = DecomposeSymmetric((MatrixXd(2, 2) << 2, 1, 1, 2).finished());
  EXPECT_NEAR(parts.values(0), 1.0, 1e-15);
  EXPECT_NEAR(parts.values(1), 3.0, 1e-15);
  EXPECT_NEAR(std::fabs(parts.vectors(0, 1)), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(parts.vectors(0, 0), -parts.vectors(1, 0), 1e-15);
}

TEST(SolveSquare, SolvesIndefiniteSystemsAndSingularOnesThatHaveASolution) {
  const MatrixXd indefinite = (MatrixXd(2, 2) << 0, 1, 1, 0).finished();
  EXPECT_LT((SolveSquare(indefinite, Eigen::Vector2d(3.0, 4.0)) - Eigen::Vector2d(4.0, 3.0)).norm(),
            1e-15);
  const MatrixXd singular = (MatrixXd(2, 2) << 1, 2, 2, 4).finished();
  const VectorXd x = SolveSquare(singular, Eigen::Vector2d(5.0, 10.0));
  EXPECT_LT((singular * x - Eigen::Vector2d(5.0, 10.0)).norm(), 1e-14);
}

// Closed form: L = [[2, 0], [1, 3]].
TEST(CholeskyFactors, SolveWhatTheyFactored) {
  CholeskyFactors factors;
  ASSERT_TRUE(factors.Factor((MatrixXd(2, 2) << 4, 2, 2, 10).finished()));
  EXPECT_LT((factors.Solve(Eigen::Vector2d(8.0, 22.0)) - Eigen::Vector2d(1.0, 2.0)).norm(), 1e-15);
}

TEST(CholeskyFactors, RefuseWhatIsNotPositiveDefinite) {
  CholeskyFactors factors;
  EXPECT_FALSE(factors.Factor((MatrixXd(2, 2) << 1, 2, 2, 1).finished()));
}

}  // namespace
}  // namespace segcal
