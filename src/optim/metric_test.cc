// SPDX-License-Identifier: Apache-2.0
#include "optim/metric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

Box Around(size_t n, double size) {
  return {.lower = std::vector<double>(n, -size), .upper = std::vector<double>(n, size)};
}

const std::vector<double> kOrigin = {0.0, 0.0};

TEST(Metric, DenseLearnsTheSecantEquation) {
  auto metric = MakeDenseMetric({2.0, 0.0, 0.0, 2.0});
  const std::vector<double> change = {3.0, 1.0};
  metric->Learn({1.0, 1.0}, change);
  const std::vector<double> step = metric->Step(Around(2, 10.0), kOrigin, change);
  EXPECT_NEAR(step[0], -1.0, 1e-9);
  EXPECT_NEAR(step[1], -1.0, 1e-9);
}

TEST(Metric, LimitedLearnsTheSecantEquationAndHoldsFixedVariables) {
  auto metric = MakeLimitedMetric({2.0, 2.0}, 3);
  metric->Learn({1.0, 1.0}, {3.0, 1.0});
  Box box = Around(2, 10.0);
  std::vector<double> step = metric->Step(box, kOrigin, {3.0, 1.0});
  EXPECT_NEAR(step[0], -1.0, 1e-12);
  EXPECT_NEAR(step[1], -1.0, 1e-12);
  box.lower[1] = box.upper[1] = 0.0;
  step = metric->Step(box, kOrigin, {3.0, 1.0});
  EXPECT_EQ(step[1], 0.0);
}

// Moved along one axis it has found a hundred times the curvature of its diagonal: it goes by that
// along the other axis too.
TEST(Metric, LimitedTakesTheScaleOfItsLastMove) {
  auto metric = MakeLimitedMetric({1.0, 1.0}, 3);
  const Box box = Around(2, 10.0);
  EXPECT_DOUBLE_EQ(metric->Step(box, kOrigin, {0.0, 5.0})[1], -5.0);
  metric->Learn({1.0, 0.0}, {100.0, 0.0});
  const std::vector<double> step = metric->Step(box, kOrigin, {0.0, 5.0});
  EXPECT_DOUBLE_EQ(step[0], 0.0);
  EXPECT_DOUBLE_EQ(step[1], -0.05);
}

// The first variable leaves the box by its scaled gradient alone, 7/29; the pair is then of the
// second, whose curvature it says is 2.
TEST(Metric, LimitedKeepsVariablesThatReachABoundApart) {
  auto metric = MakeLimitedMetric({1.0, 1.0}, 3);
  Box box = Around(2, 10.0);
  box.lower[0] = 0.0;
  metric->Learn({1.0, 1.0}, {5.0, 2.0});
  const std::vector<double> step = metric->Step(box, {0.01, 1.0}, {1.0, 1.0});
  EXPECT_DOUBLE_EQ(step[0], -7.0 / 29.0);
  EXPECT_DOUBLE_EQ(step[1], -0.5);
}

TEST(Metric, LearnsNothingFromNegativeCurvature) {
  auto metric = MakeDenseMetric({2.0, 0.0, 0.0, 2.0});
  metric->Learn({1.0, 0.0}, {-1.0, 0.0});
  EXPECT_NEAR(metric->Step(Around(2, 10.0), kOrigin, {2.0, 2.0})[0], -1.0, 1e-9);
}

// min d0 + d1 with curvature that couples them: cutting off the free minimum at the bound of d0
// would leave d1 where it is no longer best.
TEST(NewtonStep, AtABoundTheOthersMoveOn) {
  const std::vector<double> hessian = {2.0, 1.0, 1.0, 2.0};
  Box box = Around(2, 10.0);
  box.lower[0] = -0.1;
  const std::vector<double> step = NewtonStep(hessian, box, kOrigin, {3.0, 3.0}, 0.0);
  EXPECT_NEAR(step[0], -0.1, 1e-12);
  EXPECT_NEAR(step[1], -(3.0 + 1.0 * -0.1) / 2.0, 1e-12);
}

// Strongly correlated problems with many bounds: at the end of the step nothing pulls but what a
// bound holds.
TEST(NewtonStep, EndsAtTheMinimumOverTheBox) {
  constexpr size_t kSize = 12;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, 0);
    std::vector<double> root(kSize * kSize), hessian(kSize * kSize, 0.0), gradient, point;
    for (double& r : root) r = rng.Normal();
    for (size_t i = 0; i < kSize; ++i) {
      for (size_t j = 0; j < kSize; ++j) {
        for (size_t k = 0; k < kSize; ++k)
          hessian[i * kSize + j] += root[i * kSize + k] * root[j * kSize + k];
      }
      hessian[i * kSize + i] += 0.1;
      gradient.push_back(3.0 * rng.Normal());
      point.push_back(rng.Uniform() < 0.4 ? 0.0 : rng.Uniform());
    }
    const Box box{.lower = std::vector<double>(kSize, 0.0),
                  .upper = std::vector<double>(kSize, 1.0)};
    const std::vector<double> step = NewtonStep(hessian, box, point, gradient, 0.0);
    std::vector<double> end = point, slope = gradient;
    for (size_t i = 0; i < kSize; ++i) {
      end[i] += step[i];
      for (size_t j = 0; j < kSize; ++j) slope[i] += hessian[i * kSize + j] * step[j];
    }
    EXPECT_NEAR(box.ProjectedNorm(end, slope), 0.0, 1e-8) << seed;
  }
}

}  // namespace
}  // namespace segcal
