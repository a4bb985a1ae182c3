// SPDX-License-Identifier: Apache-2.0
#include "optim/implicit_metric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "optim/lesson.h"
#include "optim/test_stand_in.h"

namespace segcal {
namespace {

constexpr size_t kSize = 12;

std::vector<double> Multiplied(const std::vector<double>& matrix, const std::vector<double>& v) {
  std::vector<double> product(v.size(), 0.0);
  for (size_t i = 0; i < v.size(); ++i) {
    for (size_t j = 0; j < v.size(); ++j) product[i] += matrix[i * v.size() + j] * v[j];
  }
  return product;
}

std::unique_ptr<Metric> MetricOf(const std::vector<double>& matrix, size_t size) {
  return MakeImplicitMetric(
      {.multiply = [matrix](const std::vector<double>& v,
                            const std::vector<char>&) { return Multiplied(matrix, v); },
       .stand_in =
           [matrix, size] {
             std::vector<double> diagonal;
             for (size_t i = 0; i < size; ++i) diagonal.push_back(matrix[i * size + i]);
             return std::make_unique<Diagonal>(diagonal);
           }});
}

const Box kWide{.lower = {-10.0}, .upper = {10.0}};

// Two variables with little curvature between them: the step of the learned matrix to a tenth of
// the slope is near the move that taught it.
TEST(ImplicitMetric, LearnsTheSecantEquation) {
  const auto metric = MetricOf({2.0, 0.0, 0.0, 2.0}, 2);
  const Box wide{.lower = {-10.0, -10.0}, .upper = {10.0, 10.0}};
  const std::vector<double> change = {3.0, 1.0};
  metric->Learn({1.0, 1.0}, change);
  const std::vector<double> step = metric->Step(wide, {0.0, 0.0}, change, 0.0);
  EXPECT_NEAR(step[0], -1.0, 0.1);
  EXPECT_NEAR(step[1], -1.0, 0.1);
}

TEST(ImplicitMetric, LearnsNothingFromNegativeCurvatureAndLittleFromTooLittle) {
  const auto metric = MetricOf({2.0}, 1);
  metric->Learn({1.0}, {-1.0});
  EXPECT_NEAR(metric->Step(kWide, {0.0}, {2.0}, 0.0)[0], -1.0, 1e-12);
  metric->Learn({1.0}, {1e-3});
  EXPECT_NEAR(metric->Step(kWide, {0.0}, {kLeastTaught * 2.0}, 0.0)[0], -1.0, 1e-12);
}

TEST(ImplicitMetric, HoldsFixedVariables) {
  const auto metric = MetricOf({2.0, 1.0, 1.0, 2.0}, 2);
  const Box box{.lower = {-10.0, 3.0}, .upper = {10.0, 3.0}};
  const std::vector<double> step = metric->Step(box, {0.0, 3.0}, {4.0, 4.0}, 0.0);
  EXPECT_NEAR(step[0], -2.0, 1e-12);
  EXPECT_EQ(step[1], 0.0);
}

// Strongly correlated problems with many bounds, most variables at one: the step ends in the box,
// lower, with a tenth of the slope left.
TEST(ImplicitMetric, EndsInTheBoxWithATenthOfTheSlope) {
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
      point.push_back(rng.Uniform() < 0.7 ? 0.0 : rng.Uniform());
    }
    const Box box{.lower = std::vector<double>(kSize, 0.0),
                  .upper = std::vector<double>(kSize, 1.0)};
    const std::vector<double> step = MetricOf(hessian, kSize)->Step(box, point, gradient, 0.0);
    std::vector<double> end = point;
    std::vector<double> slope = Multiplied(hessian, step);
    double value = 0.0;
    for (size_t i = 0; i < kSize; ++i) {
      end[i] += step[i];
      value += step[i] * (gradient[i] + 0.5 * slope[i]);
      slope[i] += gradient[i];
      EXPECT_GE(end[i], 0.0);
      EXPECT_LE(end[i], 1.0);
    }
    EXPECT_LE(value, 0.0) << seed;
    EXPECT_LE(box.ProjectedNorm(end, slope), 0.1 * box.ProjectedNorm(point, gradient) + 1e-12)
        << seed;
  }
}

}  // namespace
}  // namespace segcal
