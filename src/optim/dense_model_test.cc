// SPDX-License-Identifier: Apache-2.0
#include "optim/dense_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "optim/secant_update.h"

namespace segcal {
namespace {

Box Around(size_t n, double size) {
  return {.lower = std::vector<double>(n, -size), .upper = std::vector<double>(n, size)};
}

const std::vector<double> kOrigin = {0.0, 0.0};

TEST(DenseModel, SatisfiesTheSecantEquationAfterAnUpdate) {
  auto quadratic = MakeDenseModel({2.0, 0.0, 0.0, 2.0});
  const std::vector<double> change = {3.0, 1.0};
  quadratic->Update({1.0, 1.0}, change);
  const std::vector<double> step = quadratic->Step(Around(2, 10.0), kOrigin, change, 0.0);
  EXPECT_NEAR(step[0], -1.0, 1e-9);
  EXPECT_NEAR(step[1], -1.0, 1e-9);
}

TEST(DenseModel, SkipsAnUpdateOfNegativeCurvature) {
  auto quadratic = MakeDenseModel({2.0, 0.0, 0.0, 2.0});
  quadratic->Update({1.0, 0.0}, {-1.0, 0.0});
  EXPECT_NEAR(quadratic->Step(Around(2, 10.0), kOrigin, {2.0, 2.0}, 0.0)[0], -1.0, 1e-9);
}

// A move along which the gradient hardly changes: a fifth of the curvature stays.
TEST(DenseModel, KeepsAtLeastAFifthOfTheCurvature) {
  auto quadratic = MakeDenseModel({2.0, 0.0, 0.0, 2.0});
  quadratic->Update({1.0, 0.0}, {1e-3, 0.0});
  const double gradient = kLeastCurvatureKept * 2.0;
  EXPECT_NEAR(quadratic->Step(Around(2, 10.0), kOrigin, {gradient, 0.0}, 0.0)[0], -1.0, 1e-9);
}

// min d0 + d1 with curvature that couples them: cutting off the free minimum at the bound of d0
// would leave d1 where it is no longer best.
TEST(DenseModel, AtABoundTheOthersMoveOn) {
  const std::vector<double> hessian = {2.0, 1.0, 1.0, 2.0};
  Box box = Around(2, 10.0);
  box.lower[0] = -0.1;
  const std::vector<double> step = MakeDenseModel(hessian)->Step(box, kOrigin, {3.0, 3.0}, 0.0);
  EXPECT_NEAR(step[0], -0.1, 1e-12);
  EXPECT_NEAR(step[1], -(3.0 + 1.0 * -0.1) / 2.0, 1e-12);
}

// Strongly correlated problems with many bounds: at the end of the step nothing pulls but what a
// bound holds.
TEST(DenseModel, EndsAtTheMinimumOverTheBox) {
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
    const std::vector<double> step = MakeDenseModel(hessian)->Step(box, point, gradient, 0.0);
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
