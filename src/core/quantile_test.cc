// SPDX-License-Identifier: Apache-2.0
#include "core/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace segcal {
namespace {

double QuantileOf(std::vector<double> values, double q) { return Quantile(values, q); }

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  const std::vector<double> values = {5.0, 1.0, 2.0, 4.0};
  EXPECT_EQ(QuantileOf(values, 0.0), 1.0);
  EXPECT_EQ(QuantileOf(values, 1.0), 5.0);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 1.0 / 3.0), 2.0);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0.5), 3.0);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0.95), 4.85);
}

TEST(Quantile, OfOneValueIsIt) {
  for (const double q : {0.0, 0.3, 1.0}) EXPECT_EQ(QuantileOf({7.0}, q), 7.0);
}

TEST(Quantile, OfNothingIsUndefined) { EXPECT_TRUE(std::isnan(QuantileOf({}, 0.5))); }

}  // namespace
}  // namespace segcal
