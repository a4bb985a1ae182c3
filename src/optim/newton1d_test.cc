// SPDX-License-Identifier: Apache-2.0
#include "optim/newton1d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace segcal {
namespace {

using Function1D = std::function<Point1D(double)>;

Function1D Quadratic1D(double scale, double m) {
  return [=](double x) {
    const double d = x - m;
    return Point1D{x, scale * d * d, 2 * scale * d, 2 * scale, 0.0};
  };
}

// log cosh k(x - m): quadratic near m, linear far away, where Newton's method alone diverges.
Function1D LogCosh(double k, double m) {
  return [=](double x) {
    const double t = std::tanh(k * (x - m));
    const double s = 1.0 - t * t;
    return Point1D{x, std::log(std::cosh(k * (x - m))), k * t, k * k * s, -2 * k * k * k * s * t};
  };
}

// exp(x) - a x, minimal at log a.
Function1D ExpMinusLine(double a) {
  return [=](double x) {
    const double e = std::exp(x);
    return Point1D{x, e - a * x, e - a, e, e};
  };
}

// Mean of log(1 + exp(-m_i x)): the loss of a two-class temperature with margins m_i.
Function1D Logistic(const std::vector<double>& margins) {
  return [=](double x) {
    Point1D p{.x = x};
    const double n = static_cast<double>(margins.size());
    for (const double m : margins) {
      const double q = 1.0 / (1.0 + std::exp(m * x));
      p.value +=
          (m * x < 0 ? -m * x + std::log1p(std::exp(m * x)) : std::log1p(std::exp(-m * x))) / n;
      p.slope += -m * q / n;
      p.curvature += m * m * q * (1 - q) / n;
      p.third += -m * m * m * q * (1 - q) * (1 - 2 * q) / n;
    }
    return p;
  };
}

Newton1DResult Minimize(const Function1D& f, double start, const Newton1DOptions& options) {
  return MinimizeConvex1D(f, f(start), options);
}

// Plain bisection on the sign of the slope, on the scale the fits work on; counts its evaluations.
struct Bisected {
  double x = 0.0;
  int64_t evaluations = 0;
};
Bisected Bisect(const Function1D& f, double low, double high, double relative) {
  Bisected result;
  while (high - low > relative * high) {
    result.x = 0.5 * (low + high);
    ++result.evaluations;
    (f(result.x).slope > 0.0 ? high : low) = result.x;
  }
  return result;
}

TEST(MinimizeConvex1D, NeedsOneStepOnAQuadratic) {
  for (const double m : {0.1, 3.0, 900.0}) {
    const auto result = Minimize(Quadratic1D(2.0, m), 1.0, {.upper = 1000.0});
    EXPECT_EQ(result.status, Newton1DStatus::kConverged);
    EXPECT_NEAR(result.point.x, m, 1e-12 * m);
    EXPECT_EQ(result.evaluations, 1);
  }
}

TEST(MinimizeConvex1D, FindsTheMinimumOfLogCoshFromFarAway) {
  for (const double k : {0.1, 1.0, 5.0}) {
    for (const double m : {0.01, 0.7, 42.0}) {
      for (const double start : {1e-3, 1.0, 100.0}) {
        const auto result = Minimize(LogCosh(k, m), start, {.upper = 1000.0});
        EXPECT_EQ(result.status, Newton1DStatus::kConverged) << k << " " << m << " " << start;
        EXPECT_NEAR(result.point.x, m, 1e-6 * std::max(m, 1.0)) << k << " " << m << " " << start;
        EXPECT_LE(std::fabs(result.point.slope), 1e-6);
      }
    }
  }
}

TEST(MinimizeConvex1D, FindsTheMinimumOfAnExponential) {
  for (const double a : {1.5, 20.0, 1e8}) {
    const auto result =
        Minimize(ExpMinusLine(a), 1.0, {.upper = 50.0, .slope_tolerance = 1e-6 * a});
    EXPECT_EQ(result.status, Newton1DStatus::kConverged);
    EXPECT_NEAR(result.point.x, std::log(a), 1e-6 * std::log(a));
  }
}

// An interval that holds negative numbers has no logarithmic middle.
TEST(MinimizeConvex1D, WorksOnIntervalsWithNegativeNumbers) {
  for (const double m : {-3.0, -1e-3, 0.0, 2.0}) {
    const auto result = Minimize(LogCosh(20.0, m), 4.9, {.lower = -5.0, .upper = 5.0});
    EXPECT_EQ(result.status, Newton1DStatus::kConverged) << m;
    EXPECT_NEAR(result.point.x, m, 1e-6) << m;
    EXPECT_LE(result.evaluations, 30) << m;
  }
}

TEST(MinimizeConvex1D, EndsAtTheBoundTheMinimumLiesBeyond) {
  const auto low = Minimize(Quadratic1D(1.0, -3.0), 1.0, {.upper = 10.0});
  EXPECT_EQ(low.status, Newton1DStatus::kAtLower);
  EXPECT_EQ(low.point.x, 0.0);
  EXPECT_EQ(low.evaluations, 1);
  const auto high = Minimize(Quadratic1D(1.0, 30.0), 1.0, {.upper = 10.0});
  EXPECT_EQ(high.status, Newton1DStatus::kAtUpper);
  EXPECT_EQ(high.point.x, 10.0);
  EXPECT_EQ(high.evaluations, 1);
}

TEST(MinimizeConvex1D, StaysAtABoundItStartsFrom) {
  const auto low = Minimize(Quadratic1D(1.0, -3.0), 0.0, {.upper = 10.0});
  EXPECT_EQ(low.status, Newton1DStatus::kAtLower);
  EXPECT_EQ(low.evaluations, 0);
  const auto leaves = Minimize(Quadratic1D(1.0, 4.0), 0.0, {.upper = 10.0});
  EXPECT_EQ(leaves.status, Newton1DStatus::kConverged);
  EXPECT_NEAR(leaves.point.x, 4.0, 1e-9);
}

TEST(MinimizeConvex1D, LeavesAFlatFunctionWhereItIs) {
  const auto result = Minimize([](double x) { return Point1D{x, 7.0, 0.0, 0.0, 0.0}; }, 0.6, {});
  EXPECT_EQ(result.status, Newton1DStatus::kConverged);
  EXPECT_EQ(result.point.x, 0.6);
  EXPECT_EQ(result.evaluations, 0);
}

// Curvature 0 everywhere: steps are infinite, and only the bracket leads to the kink.
TEST(MinimizeConvex1D, BracketsAKinkWithoutCurvature) {
  const auto kink = [](double x) {
    return Point1D{x, std::fabs(x - 0.3), x < 0.3 ? -1.0 : 1.0, 0.0, 0.0};
  };
  const auto result = Minimize(kink, 1.0, {.upper = 1e6});
  EXPECT_EQ(result.status, Newton1DStatus::kNotConverged);
  EXPECT_NEAR(result.point.x, 0.3, 1e-9);
  EXPECT_LE(result.evaluations, 100);
}

TEST(MinimizeConvex1D, ReachesABoundWithoutCurvatureInOneEvaluation) {
  for (const double slope : {-1.0, 1.0}) {
    const auto line = [=](double x) { return Point1D{x, slope * x, slope, 0.0, 0.0}; };
    const auto result = Minimize(line, 1.0, {.upper = 1e6});
    EXPECT_EQ(result.status, slope < 0 ? Newton1DStatus::kAtUpper : Newton1DStatus::kAtLower);
    EXPECT_EQ(result.evaluations, 1);
  }
}

TEST(MinimizeConvex1D, StopsAtItsLimitOfEvaluations) {
  const auto result = Minimize(LogCosh(1.0, 700.0), 1e-3, {.upper = 1000.0, .max_evaluations = 2});
  EXPECT_EQ(result.status, Newton1DStatus::kNotConverged);
  EXPECT_EQ(result.evaluations, 2);
}

TEST(MinimizeConvex1D, EndsOnAFunctionThatIsNotANumber) {
  const auto bad = [](double x) {
    return Point1D{x, std::nan(""), std::nan(""), std::nan(""), std::nan("")};
  };
  const auto result = Minimize(bad, 0.5, {});
  EXPECT_EQ(result.status, Newton1DStatus::kNotConverged);
  EXPECT_LE(result.evaluations, 100);
}

// An evaluation is a pass over the data; the oracle for the minimum is bisection itself.
TEST(MinimizeConvex1D, NeedsFewerEvaluationsThanBisectionOnTemperatureLosses) {
  const std::vector<std::vector<double>> all_margins = {
      {1.0, -0.5, 2.0, 0.3, -0.1},
      {8.0, 9.0, 7.0, -0.2},
      {0.01, 0.02, -0.015},
      {30.0, 25.0, 28.0, 31.0, -2.0, 27.0},
  };
  for (const auto& margins : all_margins) {
    const Function1D f = Logistic(margins);
    const Bisected oracle = Bisect(f, 0.0, 1e6, 1e-12);
    const int64_t allowed = Bisect(f, 0.0, 1e6, 1e-7).evaluations;
    for (const double start : {1e-3, 0.3, 1.0, 5.0, 1e3}) {
      const auto result = Minimize(f, start, {.upper = 1e6});
      EXPECT_EQ(result.status, Newton1DStatus::kConverged) << margins[0] << " from " << start;
      EXPECT_NEAR(result.point.x, oracle.x, 1e-6 * oracle.x) << margins[0] << " from " << start;
      EXPECT_LT(result.evaluations, allowed / 2) << margins[0] << " from " << start;
    }
  }
}

// Near the minimum the error is cubed at each step: one evaluation from a sample's temperature.
TEST(MinimizeConvex1D, NeedsOneEvaluationFromOnePerCentAway) {
  const Function1D f = Logistic({1.0, -0.5, 2.0, 0.3, -0.1, 0.8});
  const Bisected oracle = Bisect(f, 0.0, 1e6, 1e-13);
  const auto result = Minimize(f, 1.01 * oracle.x, {.upper = 1e6});
  EXPECT_EQ(result.status, Newton1DStatus::kConverged);
  EXPECT_LE(result.evaluations, 2);
  EXPECT_NEAR(result.point.x, oracle.x, 1e-6 * oracle.x);
}

}  // namespace
}  // namespace segcal
