// SPDX-License-Identifier: Apache-2.0
#include "simulate/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace segcal {
namespace {

const std::vector<double> kEta = {0.5, 0.3, 0.15, 0.05};

std::vector<double> LogEta() {
  std::vector<double> log_eta;
  for (const double p : kEta) log_eta.push_back(std::log(p));
  return log_eta;
}

// Pearson's statistic of counts against kEta; above 16.27 with probability 0.001 if they are drawn
// from it (3 degrees of freedom).
double ChiSquare(const std::vector<int64_t>& counts) {
  int64_t total = 0;
  for (const int64_t n : counts) total += n;
  double sum = 0.0;
  for (size_t c = 0; c < counts.size(); ++c) {
    const double expected = kEta[c] * static_cast<double>(total);
    const double difference = static_cast<double>(counts[c]) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(Gumbel, FromNormalIsTheSameQuantileAsFromUniform) {
  for (const double x : {-3.0, -1.0, -0.1, 0.0, 0.1, 1.0, 3.0}) {
    const double u = 0.5 * std::erfc(-x / std::sqrt(2.0));
    EXPECT_NEAR(GumbelFromNormal(x), GumbelFromUniform(u), 1e-12) << x;
  }
}

// For small q = 1 - Phi(x), -log(-log(1 - q)) = -log q up to q.
TEST(Gumbel, FromNormalKeepsItsDigitsInTheUpperTail) {
  for (const double x : {8.0, 20.0, 35.0}) {
    EXPECT_NEAR(GumbelFromNormal(x), -std::log(NormalUpperTail(x)), 1e-12) << x;
  }
  EXPECT_LT(GumbelFromNormal(-35.0), GumbelFromNormal(-8.0));
  EXPECT_TRUE(std::isfinite(GumbelFromNormal(-35.0)));
}

TEST(DrawLabel, IndependentLabelsHaveTheFrequenciesOfEta) {
  const int64_t n = 200000;
  const LabelNoise noise({n}, 4, 0.0, CaseStreams{7, 0}, 1);
  std::vector<int64_t> counts(4, 0);
  for (int64_t v = 0; v < n; ++v) ++counts[static_cast<size_t>(DrawLabel(LogEta(), noise, v))];
  EXPECT_LT(ChiSquare(counts), 16.27);
}

// One voxel from each of many independent cases: correlation within a case plays no part, so the
// counts are multinomial if and only if the marginal is Categorical(eta).
TEST(DrawLabel, CorrelatedLabelsHaveTheFrequenciesOfEtaAtEveryVoxel) {
  std::vector<int64_t> corner(4, 0);
  std::vector<int64_t> centre(4, 0);
  for (int64_t i = 0; i < 8000; ++i) {
    const LabelNoise noise({3, 3}, 4, 2.0, CaseStreams{7, i}, 1);
    ++corner[static_cast<size_t>(DrawLabel(LogEta(), noise, 0))];
    ++centre[static_cast<size_t>(DrawLabel(LogEta(), noise, 4))];
  }
  EXPECT_LT(ChiSquare(corner), 16.27);
  EXPECT_LT(ChiSquare(centre), 16.27);
}

// Independent neighbours agree with probability sum eta^2 = 0.365.
TEST(DrawLabel, CorrelationMakesNeighboursAgree) {
  const auto agreement = [](double correlation) {
    const LabelNoise noise({100, 100}, 4, correlation, CaseStreams{1, 0}, 1);
    int64_t agree = 0;
    for (int64_t v = 1; v < 10000; ++v) {
      agree += DrawLabel(LogEta(), noise, v) == DrawLabel(LogEta(), noise, v - 1) ? 1 : 0;
    }
    return static_cast<double>(agree) / 9999.0;
  };
  EXPECT_NEAR(agreement(0.0), 0.365, 0.02);
  EXPECT_GT(agreement(4.0), 0.7);
}

TEST(DrawLabel, NeverDrawsAnImpossibleClass) {
  const LabelNoise noise({10000}, 3, 0.0, CaseStreams{2, 0}, 1);
  const double never = -std::numeric_limits<double>::infinity();
  const std::vector<double> log_eta = {never, std::log(0.999), std::log(0.001)};
  for (int64_t v = 0; v < 10000; ++v) EXPECT_NE(DrawLabel(log_eta, noise, v), 0);
}

}  // namespace
}  // namespace segcal
