// SPDX-License-Identifier: Apache-2.0
#include "page/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace segcal {
namespace {

TEST(Axis, EndsAtRoundNumbersAroundTheValues) {
  const Axis axis(0.313, 0.478, 100.0, 300.0);
  EXPECT_NEAR(axis.low(), 0.30, 1e-12);
  EXPECT_NEAR(axis.high(), 0.48, 1e-12);
  EXPECT_DOUBLE_EQ(axis.Pixel(axis.low()), 100.0);
  EXPECT_DOUBLE_EQ(axis.Pixel(axis.high()), 300.0);
  EXPECT_EQ(axis.Label(0.3), "0.30");
}

TEST(Axis, HasAFewTicksWhateverTheScale) {
  for (const double scale : {1e-7, 3e-3, 1.0, 47.0, 2e9}) {
    const Axis axis(-0.31 * scale, 0.92 * scale, 0.0, 1.0);
    EXPECT_GE(axis.Ticks().size(), 4u) << scale;
    EXPECT_LE(axis.Ticks().size(), 13u) << scale;
    EXPECT_LE(axis.low(), -0.31 * scale);
    EXPECT_GE(axis.high(), 0.92 * scale);
    for (const double tick : axis.Ticks()) {
      const double read = std::stod(axis.Label(tick));
      EXPECT_NEAR(read, tick, 1e-9 + 1e-6 * scale) << axis.Label(tick);
    }
  }
}

TEST(Axis, SurvivesNoRangeAndNoNumbers) {
  const Axis point(0.25, 0.25, 0.0, 10.0);
  EXPECT_LT(point.low(), 0.25);
  EXPECT_GT(point.high(), 0.25);
  const RangeOfValues none;
  EXPECT_TRUE(none.empty());
  const Axis empty(none.low(), none.high(), 0.0, 10.0);
  EXPECT_EQ(empty.low(), 0.0);
  EXPECT_EQ(empty.high(), 1.0);
  RangeOfValues some;
  some.Add(std::numeric_limits<double>::quiet_NaN());
  some.Add(3.0);
  some.Add(-1.0);
  EXPECT_EQ(some.low(), -1.0);
  EXPECT_EQ(some.high(), 3.0);
}

}  // namespace
}  // namespace segcal
