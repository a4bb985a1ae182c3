// SPDX-License-Identifier: Apache-2.0
#include "optim/implicit_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "optim/dense_model.h"
#include "optim/preconditioner_for_test.h"
#include "optim/secant_update.h"

namespace segcal {
namespace {

constexpr size_t kSize = 12;

// Entries that are not wanted are nonsense.
std::vector<double> Multiplied(const std::vector<double>& matrix,
                               const std::vector<double>& v,
                               const std::vector<char>& wanted) {
  std::vector<double> product(v.size(), 0.0);
  for (size_t i = 0; i < v.size(); ++i) {
    for (size_t j = 0; j < v.size(); ++j) product[i] += matrix[i * v.size() + j] * v[j];
    if (wanted[i] == 0) product[i] = 1e9;
  }
  return product;
}

std::unique_ptr<QuadraticModel> MetricOf(const std::vector<double>& matrix, size_t size) {
  return MakeImplicitModel(
      {.multiply = [matrix](
                       const std::vector<double>& v,
                       const std::vector<char>& wanted) { return Multiplied(matrix, v, wanted); },
       .preconditioner =
           [matrix, size] {
             std::vector<double> diagonal;
             for (size_t i = 0; i < size; ++i) diagonal.push_back(matrix[i * size + i]);
             return std::make_unique<Diagonal>(diagonal);
           }});
}

const Box kWide{.lower = {-10.0}, .upper = {10.0}};

// Two variables with little curvature between them: the step of the learned matrix to a tenth of
// the slope is near the move that taught it.
TEST(ImplicitModel, LearnsTheSecantEquation) {
  const auto quadratic = MetricOf({2.0, 0.0, 0.0, 2.0}, 2);
  const Box wide{.lower = {-10.0, -10.0}, .upper = {10.0, 10.0}};
  const std::vector<double> change = {3.0, 1.0};
  quadratic->Update({1.0, 1.0}, change);
  const std::vector<double> step = quadratic->Step(wide, {0.0, 0.0}, change, 0.0);
  EXPECT_NEAR(step[0], -1.0, 0.1);
  EXPECT_NEAR(step[1], -1.0, 0.1);
}

TEST(ImplicitModel, LearnsNothingFromNegativeCurvatureAndLittleFromTooLittle) {
  const auto quadratic = MetricOf({2.0}, 1);
  quadratic->Update({1.0}, {-1.0});
  EXPECT_NEAR(quadratic->Step(kWide, {0.0}, {2.0}, 0.0)[0], -1.0, 1e-12);
  quadratic->Update({1.0}, {1e-3});
  EXPECT_NEAR(quadratic->Step(kWide, {0.0}, {kLeastCurvatureKept * 2.0}, 0.0)[0], -1.0, 1e-12);
}

TEST(ImplicitModel, HoldsFixedVariables) {
  const auto quadratic = MetricOf({2.0, 1.0, 1.0, 2.0}, 2);
  const Box box{.lower = {-10.0, 3.0}, .upper = {10.0, 3.0}};
  const std::vector<double> step = quadratic->Step(box, {0.0, 3.0}, {4.0, 4.0}, 0.0);
  EXPECT_NEAR(step[0], -2.0, 1e-12);
  EXPECT_EQ(step[1], 0.0);
}

// A strongly correlated problem with many bounds, most variables at one.
struct RandomProblem {
  explicit RandomProblem(uint64_t seed) : hessian(kSize * kSize, 0.0) {
    Rng rng(seed, 0);
    std::vector<double> root(kSize * kSize);
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
  }
  Box box{.lower = std::vector<double>(kSize, 0.0), .upper = std::vector<double>(kSize, 1.0)};
  std::vector<double> hessian, gradient, point;
};

// The step ends in the box, lower, with a tenth of the slope left.
TEST(ImplicitModel, EndsInTheBoxWithATenthOfTheSlope) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const RandomProblem p(seed);
    const std::vector<double> step =
        MetricOf(p.hessian, kSize)->Step(p.box, p.point, p.gradient, 0.0);
    std::vector<double> end = p.point;
    std::vector<double> slope = Multiplied(p.hessian, step, std::vector<char>(kSize, 1));
    double value = 0.0;
    for (size_t i = 0; i < kSize; ++i) {
      end[i] += step[i];
      value += step[i] * (p.gradient[i] + 0.5 * slope[i]);
      slope[i] += p.gradient[i];
      EXPECT_GE(end[i], 0.0);
      EXPECT_LE(end[i], 1.0);
    }
    EXPECT_LE(value, 0.0) << seed;
    EXPECT_LE(p.box.ProjectedNorm(end, slope),
              0.1 * p.box.ProjectedNorm(p.point, p.gradient) + 1e-12)
        << seed;
  }
}

// A preconditioner that is the matrix itself.
class Exact final : public Preconditioner {
 public:
  explicit Exact(std::vector<double> matrix) : metric_(MakeDenseModel(std::move(matrix))) {}
  Product Inverse(const std::vector<char>& free) const override {
    Box face{.lower = std::vector<double>(kSize, 0.0), .upper = std::vector<double>(kSize, 0.0)};
    for (size_t i = 0; i < kSize; ++i) {
      if (free[i] != 0) face.lower[i] = -(face.upper[i] = 1e9);
    }
    return [this, face](std::vector<double> v) {
      for (double& x : v) x = -x;
      return metric_->Step(face, std::vector<double>(kSize, 0.0), v, 0.0);
    };
  }
  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& slope) const override {
    return metric_->Step(box, point, slope, 0.0);
  }

 private:
  std::unique_ptr<QuadraticModel> metric_;
};

// With all variables at their only bound it knows which of them stay: 720 products in all. A
// preconditioner that does not tell takes 1084.
TEST(ImplicitModel, IsToldByThePreconditionerWhatStaysAtItsBound) {
  int products = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomProblem p(seed);
    p.box.upper.assign(kSize, 1e6);
    const auto quadratic =
        MakeImplicitModel({.multiply =
                               [&](const std::vector<double>& v, const std::vector<char>& wanted) {
                                 ++products;
                                 return Multiplied(p.hessian, v, wanted);
                               },
                           .preconditioner = [&] { return std::make_unique<Exact>(p.hessian); }});
    quadratic->Step(p.box, p.box.lower, p.gradient, 0.0);
  }
  EXPECT_LE(products, 200 * 4);
}

}  // namespace
}  // namespace segcal
