// SPDX-License-Identifier: Apache-2.0
#include "optim/simplex_newton.h"

#include <gtest/gtest.h>

#include <cmath>

namespace segcal {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::Vector4d;
using Eigen::VectorXd;
using SimplexFunction = std::function<SimplexPoint(const VectorXd&)>;

// |x - target|^2: its minimiser is the projection of the target.
SimplexFunction Distance(const Vector4d& target) {
  return [=](const VectorXd& x) {
    return SimplexPoint{
        x, (x - target).squaredNorm(), 2 * (x - target), 2 * MatrixXd::Identity(4, 4)};
  };
}

SimplexNewtonResult Minimize(const SimplexFunction& f,
                             const Vector4d& from,
                             SimplexNewtonOptions options = {.lower = -2.0, .upper = 3.0}) {
  return MinimizeOnSimplex(f, f(from), options);
}

TEST(ProjectOnSimplex, KeepsPointsOfTheSimplexAndCutsOthers) {
  EXPECT_LT((ProjectOnSimplex(Vector3d(0.2, 0.5, 0.3)) - Vector3d(0.2, 0.5, 0.3)).norm(), 1e-15);
  EXPECT_LT((ProjectOnSimplex(Vector3d(2.0, 0.0, 0.0)) - Vector3d(1.0, 0.0, 0.0)).norm(), 1e-15);
  EXPECT_LT((ProjectOnSimplex(Vector3d(0.6, 0.6, -5.0)) - Vector3d(0.5, 0.5, 0.0)).norm(), 1e-15);
  EXPECT_LT((ProjectOnSimplex(Vector3d(7.0, 7.0, 7.0)) - Vector3d::Constant(1.0 / 3.0)).norm(),
            1e-15);
}

// Closed form: one exact step to the projection, from a corner, wherever the target lies.
TEST(MinimizeOnSimplex, ReachesTheProjectionOfTheCentreOfAQuadratic) {
  const Vector4d targets[] = {{0.5, 0.2, 0.5, 0.3},
                              {9.0, 0.2, 0.5, 0.3},
                              {-9.0, 2.0, -1.0, 0.0},
                              {0.0, 0.6, 0.6, -5.0},
                              {0.0, 0.0, 0.0, 40.0}};
  for (const Vector4d& target : targets) {
    const SimplexNewtonResult result = Minimize(Distance(target), {0.0, 1.0, 0.0, 0.0});
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.evaluations, 1);
    const VectorXd nearest = ProjectOnSimplex(target.tail(3));
    EXPECT_NEAR(result.point.x(0), std::clamp(target(0), -2.0, 3.0), 1e-12);
    EXPECT_LT((result.point.x.tail(3) - nearest).norm(), 1e-12);
    EXPECT_LE(result.projected_gradient, 1e-6);
  }
}

// -sum a_i log w_i is smallest at w = a / sum a; far from quadratic near the border.
TEST(MinimizeOnSimplex, FindsTheMaximumLikelihoodOfAMultinomial) {
  const Vector3d share(0.7, 0.2999, 0.0001);
  const SimplexFunction f = [&](const VectorXd& x) {
    const VectorXd w = x.tail(3);
    SimplexPoint at{x, x(0) * x(0), VectorXd::Zero(4), MatrixXd::Zero(4, 4)};
    at.gradient(0) = 2.0 * x(0);
    at.hessian(0, 0) = 2.0;
    for (Eigen::Index i = 0; i < 3; ++i) {
      at.value -= share(i) * std::log(w(i));
      at.gradient(i + 1) = -share(i) / w(i);
      at.hessian(i + 1, i + 1) = share(i) / (w(i) * w(i));
    }
    if (!(w.minCoeff() > 0.0)) at.value = INFINITY;
    return at;
  };
  const SimplexNewtonResult result = Minimize(f, {1.0, 0.01, 0.01, 0.98});
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.point.x(0), 0.0, 1e-6);
  EXPECT_LT((result.point.x.tail(3) - share).cwiseAbs().maxCoeff(), 1e-6);
}

// Two wells in t, (t^2 - 1)^2, the one at the left lower by 0.1; the start between them is a
// maximum in t, where Newton's method alone would stay.
TEST(MinimizeOnSimplex, LeavesAPlaceOfNegativeCurvature) {
  const SimplexFunction f = [](const VectorXd& x) {
    const double t = x(0);
    SimplexPoint at{x, 0.0, VectorXd::Zero(4), MatrixXd::Zero(4, 4)};
    at.value = (t * t - 1.0) * (t * t - 1.0) + 0.1 * t + x(1);
    at.gradient << 4.0 * t * (t * t - 1.0) + 0.1, 1.0, 0.0, 0.0;
    at.hessian(0, 0) = 12.0 * t * t - 4.0;
    return at;
  };
  const SimplexNewtonResult result = Minimize(f, {0.01, 1.0, 0.0, 0.0});
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.point.x(0), -1.012, 1e-3);
  EXPECT_EQ(result.point.x(1), 0.0);
}

TEST(MinimizeOnSimplex, SaysThatItRanOutOfEvaluations) {
  const SimplexNewtonResult result = Minimize(Distance({0.5, 0.2, 0.5, 0.3}),
                                              {0.0, 1.0, 0.0, 0.0},
                                              {.lower = -2.0, .upper = 3.0, .max_evaluations = 0});
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.evaluations, 0);
  EXPECT_GT(result.projected_gradient, 0.1);
}

}  // namespace
}  // namespace segcal
