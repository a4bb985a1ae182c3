// SPDX-License-Identifier: Apache-2.0
#include "optim/plateau.h"

#include <gtest/gtest.h>

#include <vector>

namespace segcal {
namespace {

std::vector<double> RatesOver(const PlateauOptions& options, const std::vector<double>& losses) {
  PlateauState state{.learning_rate = 1.0};
  std::vector<double> rates;
  for (const double loss : losses) {
    UpdatePlateau(options, loss, &state);
    rates.push_back(state.learning_rate);
  }
  return rates;
}

TEST(Plateau, LowersTheRateAfterItsPatienceAndWaitsAgain) {
  const PlateauOptions options{.factor = 0.5, .patience = 1, .min_learning_rate = 0.2};
  EXPECT_EQ(RatesOver(options, {3, 2, 2, 2, 2, 2, 2, 2, 2}),
            (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2}));
}

TEST(Plateau, CountsOnlyImprovementsAboveItsThreshold) {
  const PlateauOptions options{.factor = 0.1, .patience = 0, .threshold = 0.1};
  EXPECT_EQ(RatesOver(options, {10, 9.5}), (std::vector<double>{1, 0.1}));
  EXPECT_EQ(RatesOver(options, {10, 8.9}), (std::vector<double>{1, 1}));
}

TEST(Plateau, NeverRaisesARateBelowItsMinimum) {
  const PlateauOptions options{.factor = 0.5, .patience = 0, .min_learning_rate = 4.0};
  EXPECT_EQ(RatesOver(options, {1, 1, 1}), (std::vector<double>{1, 1, 1}));
}

}  // namespace
}  // namespace segcal
