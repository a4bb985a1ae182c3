// SPDX-License-Identifier: Apache-2.0
#include "fuse/method.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

std::vector<double> Weigh(const char* method,
                          const std::vector<double>& reliability,
                          const FuseOptions& options = {}) {
  std::vector<double> weights(reliability.size());
  FindFusion(method).weigh(reliability, options, weights);
  return weights;
}

// M w = 1 by elimination with pivots, then divided by the sum: (FU3) as it is printed.
std::vector<double> SolveDirectly(const std::vector<double>& reliability, double ridge) {
  const size_t n = reliability.size();
  double diagonal = 0.0;
  for (const double p : reliability) diagonal += (1.0 - p) * (1.0 - p) / static_cast<double>(n);
  std::vector<std::vector<long double>> m(n, std::vector<long double>(n + 1, 1.0L));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j)
      m[i][j] = (1.0L - reliability[i]) * (1.0L - reliability[j]) + (i == j ? ridge * diagonal : 0);
  }
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i) pivot = std::fabs(m[i][k]) > std::fabs(m[pivot][k]) ? i : pivot;
    std::swap(m[k], m[pivot]);
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = m[i][k] / m[k][k];
      for (size_t j = k; j <= n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  std::vector<double> weights(n);
  long double sum = 0.0L;
  for (size_t k = 0; k < n; ++k) sum += m[k][n] / m[k][k];
  for (size_t k = 0; k < n; ++k) weights[k] = static_cast<double>(m[k][n] / m[k][k] / sum);
  return weights;
}

TEST(JointLabelFusion, SolvesItsMatrix) {
  Rng rng(1, 0);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> reliability(static_cast<size_t>(2 + trial % 16));
    for (double& p : reliability) p = rng.Uniform();
    for (const double ridge : {1e-4, 0.1, 3.0}) {
      FuseOptions options;
      options.ridge = ridge;
      const std::vector<double> weights = Weigh("jlf", reliability, options);
      const std::vector<double> direct = SolveDirectly(reliability, ridge);
      EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0, 1e-9);
      for (size_t i = 0; i < weights.size(); ++i)
        EXPECT_NEAR(weights[i], direct[i], 1e-9 * (1.0 + std::fabs(direct[i]))) << ridge;
    }
  }
}

// Without its ridge the matrix is of rank one; where all are equal, or nobody can be wrong, so are
// the weights.
TEST(JointLabelFusion, IsEvenWhereCandidatesAreAlike) {
  for (const double p : {0.0, 0.3, 1.0 - 1e-12, 1.0}) {
    for (const double w : Weigh("jlf", {p, p, p, p})) EXPECT_NEAR(w, 0.25, 1e-9) << p;
  }
}

TEST(JointLabelFusion, GivesTheCertainCandidateAllButTheRidge) {
  const std::vector<double> weights = Weigh("jlf", {1.0, 0.5, 0.5});
  EXPECT_GT(weights[0], 0.9);
  EXPECT_GT(weights[1], 0.0);
}

TEST(JointLabelFusion, HasNegativeWeightsUnlessTheyAreClipped) {
  const std::vector<double> reliability = {0.95, 0.9, 0.1};
  EXPECT_LT(Weigh("jlf", reliability)[2], 0.0);
  FuseOptions options;
  options.clip = true;
  EXPECT_EQ(Weigh("jlf", reliability, options)[2], 0.0);
}

TEST(WeightedVoting, CountsVotesByTheirReliability) {
  EXPECT_EQ(Weigh("svwv", {0.2, 0.7}), (std::vector<double>{0.2, 0.7}));
  EXPECT_EQ(Weigh("plurality", {0.2, 0.7}), (std::vector<double>{1.0, 1.0}));
}

uint16_t Decide(const char* method,
                const std::vector<uint16_t>& labels,
                const std::vector<double>& reliability) {
  const FuseOptions options;
  Voter voter(FindFusion(method), options, static_cast<int64_t>(labels.size()));
  return voter.Decide({labels, reliability});
}

TEST(Voter, TakesTheLabelWithTheLargestWeight) {
  EXPECT_EQ(Decide("plurality", {3, 1, 3}, {0.1, 0.9, 0.1}), 3);
  EXPECT_EQ(Decide("svwv", {3, 1, 3}, {0.1, 0.9, 0.1}), 1);
  EXPECT_EQ(Decide("jlf", {3, 1, 3}, {0.1, 0.9, 0.1}), 1);
}

TEST(Voter, BreaksTiesTowardsTheLowestLabel) {
  EXPECT_EQ(Decide("plurality", {7, 2}, {0.5, 0.5}), 2);
  EXPECT_EQ(Decide("svwv", {7, 2, 5}, {0.5, 0.5, 0.5}), 2);
}

TEST(Voter, LeavesOutWhoAbstains) {
  EXPECT_EQ(Decide("plurality", {kAbstains, kAbstains, 4}, {0.9, 0.9, 0.1}), 4);
  EXPECT_EQ(Decide("jlf", {kAbstains, 1, 4}, {0.9, 0.2, 0.8}), 4);
  EXPECT_EQ(Decide("jlf", {kAbstains, kAbstains}, {0.9, 0.9}), kAbstains);
}

TEST(Voter, NeedsHalfOfTheVotesForAMajority) {
  EXPECT_EQ(Decide("majority", {5, 5, 1, 2}, {0.5, 0.5, 0.5, 0.5}), 5);
  EXPECT_EQ(Decide("majority", {5, 5, 1, 2, 3}, {0.5, 0.5, 0.5, 0.5, 0.5}), kAbstains);
}

TEST(Fusions, AnUnknownNameListsTheKnownOnes) {
  ExpectError(
      ErrorCode::kInvalidArgument, {"\"staple\"", "jlf", "majority"}, [] { FindFusion("staple"); });
}

}  // namespace
}  // namespace segcal
