// SPDX-License-Identifier: Apache-2.0
#include "optim/expert_newton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optim/dense_model.h"
#include "optim/implicit_model.h"
#include "optim/preconditioner_for_test.h"

namespace segcal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// f(x) = sum_i w_i (x_i - t_i)^2 / 2 + c (x_0 - x_1)^2 / 2: convex, with a closed minimum.
struct Quadratic {
  std::vector<double> weights;
  std::vector<double> target;
  double coupling = 0.0;

  Value At(const std::vector<double>& x) const {
    Value value;
    value.gradient.resize(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double d = x[i] - target[i];
      value.value += 0.5 * weights[i] * d * d;
      value.gradient[i] = weights[i] * d;
    }
    const double d = x[0] - x[1];
    value.value += 0.5 * coupling * d * d;
    value.gradient[0] += coupling * d;
    value.gradient[1] -= coupling * d;
    return value;
  }
  std::vector<double> Hessian() const {
    const size_t n = weights.size();
    std::vector<double> h(n * n, 0.0);
    for (size_t i = 0; i < n; ++i) h[i * n + i] = weights[i];
    h[0] += coupling;
    h[n + 1] += coupling;
    h[1] = h[n] = -coupling;
    return h;
  }
};

std::unique_ptr<QuadraticModel> Implicit(const std::vector<double>& hessian) {
  return MakeImplicitModel({.multiply =
                                [hessian](const std::vector<double>& v, const std::vector<char>&) {
                                  std::vector<double> product(v.size(), 0.0);
                                  for (size_t i = 0; i < hessian.size(); ++i)
                                    product[i / v.size()] += hessian[i] * v[i % v.size()];
                                  return product;
                                },
                            .preconditioner =
                                [n = static_cast<size_t>(std::llround(std::sqrt(hessian.size())))] {
                                  return std::make_unique<Diagonal>(std::vector<double>(n, 1.0));
                                }});
}

// The truth and a model of it that is off by some per cent.
ExpertProblem IdentifyFit(const std::vector<Quadratic>& truth, const Box& box, bool dense) {
  ExpertProblem problem;
  problem.box = box;
  problem.evaluate = [truth](const std::vector<std::vector<double>>& points) {
    std::vector<Value> values;
    for (size_t e = 0; e < points.size(); ++e) values.push_back(truth[e].At(points[e]));
    return values;
  };
  std::vector<Quadratic> model = truth;
  for (Quadratic& q : model) {
    for (double& w : q.weights) w *= 1.2;
    for (double& t : q.target) t += 0.05;
  }
  problem.model = [model](int64_t e, const std::vector<double>& x) {
    return model[static_cast<size_t>(e)].At(x);
  };
  problem.model_curvature = [model, dense](int64_t e,
                                           const std::vector<double>&,
                                           const std::shared_ptr<SharedPreconditioner>&) {
    const std::vector<double> hessian = model[static_cast<size_t>(e)].Hessian();
    return dense ? MakeDenseModel(hessian) : Implicit(hessian);
  };
  return problem;
}

Box Unbounded(size_t n) {
  return {.lower = std::vector<double>(n, -kInfinity), .upper = std::vector<double>(n, kInfinity)};
}

TEST(SolveExperts, FindsTheMinimaOfAllExpertsWithEitherMetric) {
  const std::vector<Quadratic> truth = {{{1.0, 2.0, 0.01}, {3.0, -1.0, 40.0}, 0.0},
                                        {{5.0, 0.5, 1.0}, {0.0, 0.0, 1.0}, 0.0}};
  for (const bool dense : {true, false}) {
    const SolverResult result = SolveExperts(IdentifyFit(truth, Unbounded(3), dense),
                                             {{0.0, 0.0, 0.0}, {9.0, 9.0, 9.0}},
                                             {.gradient_tolerance = 1e-9, .num_threads = 2});
    for (size_t e = 0; e < 2; ++e) {
      EXPECT_TRUE(result.experts[e].converged) << dense;
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(result.experts[e].point[i], truth[e].target[i], 2e-7) << dense;
      }
      EXPECT_LE(result.experts[e].residual, 1e-9);
    }
    EXPECT_LE(result.passes, dense ? 8 : 30);
  }
}

// Closed form: with x_0 held at its bound 2, x_1 minimises (x_1 - 0)^2 / 2 + (2 - x_1)^2 / 2.
TEST(SolveExperts, KeepsBoundsExactly) {
  const std::vector<Quadratic> truth = {{{1.0, 1.0, 1.0}, {-5.0, 0.0, 3.0}, 1.0}};
  Box box = Unbounded(3);
  box.lower[0] = 2.0;
  box.lower[2] = box.upper[2] = 7.0;
  for (const bool dense : {true, false}) {
    const SolverResult result = SolveExperts(
        IdentifyFit(truth, box, dense), {{4.0, 4.0, 7.0}}, {.gradient_tolerance = 1e-9});
    EXPECT_TRUE(result.experts[0].converged);
    EXPECT_EQ(result.experts[0].point[0], 2.0);
    EXPECT_NEAR(result.experts[0].point[1], 1.0, 1e-8);
    EXPECT_EQ(result.experts[0].point[2], 7.0);
  }
}

TEST(SolveExperts, SaysWhenPassesRunOut) {
  const std::vector<Quadratic> truth = {{{1.0, 70.0, 3e-3}, {0.3, 0.7, 11.0}, 0.5}};
  const SolverResult result = SolveExperts(IdentifyFit(truth, Unbounded(3), false),
                                           {{0.0, 0.0, 0.0}},
                                           {.gradient_tolerance = 1e-300, .max_passes = 3});
  EXPECT_FALSE(result.experts[0].converged);
  EXPECT_EQ(result.passes, 3);
  EXPECT_EQ(result.experts[0].path.size(), 3u);
}

// Gradients with an error that no step takes away: it stops, and does not say that it is there.
// A start for something else that is within the tolerance of this.
TEST(SolveExperts, GoesOnFromAGoodStartWhereToldTo) {
  const Quadratic truth{.weights = {1.0, 2.0}, .target = {0.5, -0.3}, .coupling = 0.1};
  const Box free{.lower = {-kInfinity, -kInfinity}, .upper = {kInfinity, kInfinity}};
  const ExpertProblem problem = IdentifyFit({truth}, free, /*dense=*/true);
  SolverOptions exact{.gradient_tolerance = 1e-12, .skip_model = true};
  std::vector<double> start = SolveExperts(problem, {{0.0, 0.0}}, exact).experts[0].point;
  start[0] += 5e-5;
  SolverOptions options{.gradient_tolerance = 1e-4, .skip_model = true};
  EXPECT_EQ(SolveExperts(problem, {start}, options).experts[0].point, start);
  options.start_share = 0.1;
  const ExpertSolution moved = SolveExperts(problem, {start}, options).experts[0];
  EXPECT_LE(moved.residual, 6e-6);
  EXPECT_NE(moved.point, start);
  // Not below what sums can tell.
  options.least_tolerance = 1e-4;
  EXPECT_EQ(SolveExperts(problem, {start}, options).experts[0].point, start);
}

TEST(SolveExperts, StopsWhereNothingIsGained) {
  ExpertProblem problem =
      IdentifyFit({{{1.0, 1.0, 1.0}, {0.3, 0.7, 1.0}, 0.0}}, Unbounded(3), true);
  const auto exact = problem.evaluate;
  int calls = 0;
  problem.evaluate = [&](const std::vector<std::vector<double>>& points) {
    std::vector<Value> values = exact(points);
    values[0].gradient[0] += ++calls % 2 == 0 ? 1e-3 : -1e-3;
    return values;
  };
  const SolverResult result =
      SolveExperts(problem, {{0.0, 0.0, 0.0}}, {.gradient_tolerance = 1e-6, .max_passes = 1000});
  EXPECT_FALSE(result.experts[0].converged);
  EXPECT_LT(result.passes, 40);
  EXPECT_NEAR(result.experts[0].point[2], 1.0, 1e-2);
}

// Property: the value never rises from pass to pass, but for the rounding of its sum.
TEST(SolveExperts, PathDescends) {
  const std::vector<Quadratic> truth = {{{1.0, 100.0, 1e-3}, {3.0, -1.0, 10.0}, 2.0}};
  const SolverResult result = SolveExperts(
      IdentifyFit(truth, Unbounded(3), false), {{0.0, 0.0, 0.0}}, {.gradient_tolerance = 1e-10});
  const std::vector<double>& path = result.experts[0].path;
  ASSERT_GT(path.size(), 2u);
  for (size_t i = 1; i < path.size(); ++i) EXPECT_LE(path[i], path[i - 1] + 1e-12);
}

// Closed form: f(x) - min f is at most the gap, and equals it where the curvature is the bound.
TEST(Box, GapBoundsTheDistanceFromTheMinimum) {
  const Quadratic f{{2.0, 2.0, 5.0}, {1.0, -3.0, 0.5}, 0.0};
  Box box = Unbounded(3);
  box.lower = {0.0, 0.0, 0.0};
  const std::vector<double> x = {0.25, 0.5, 2.0};
  const double least = f.At({1.0, 0.0, 0.5}).value;
  const double excess = f.At(x).value - least;
  EXPECT_GE(box.Gap(x, f.At(x).gradient, 2.0), excess);
  const Quadratic even{{2.0, 2.0, 2.0}, {1.0, -3.0, 0.5}, 0.0};
  EXPECT_NEAR(box.Gap(x, even.At(x).gradient, 2.0),
              even.At(x).value - even.At({1.0, 0.0, 0.5}).value,
              1e-12);
}

}  // namespace
}  // namespace segcal
