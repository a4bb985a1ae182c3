// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "page/box_plot.h"
#include "page/line_chart.h"
#include "page/scatter.h"

namespace segcal {
namespace {

TEST(FiveNumbers, AreTheQuartilesOfNumPy) {
  // numpy.quantile([1, 2, 4, 8, 16, 32], [0, .25, .5, .75, 1])
  const FiveNumber five = FiveNumbers({32.0, 1.0, NAN, 4.0, 16.0, 2.0, 8.0});
  const double expected[] = {1.0, 2.5, 6.0, 14.0, 32.0};
  for (size_t i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(five[i], expected[i]);
  EXPECT_TRUE(std::isnan(FiveNumbers({NAN})[2]));
}

TEST(BoxPlotSvg, SurvivesARowWithoutNumbers) {
  const std::string svg = BoxPlotSvg(
      {.title = "t", .x_name = "x", .rows = {{.name = "none", .five = FiveNumbers({})}}});
  EXPECT_NE(svg.find(">none</text>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(LineChartSvg, LeavesAGapWhereThereIsNoNumber) {
  const LineChart chart{
      .title = "t",
      .x_name = "x",
      .y_name = "y",
      .lines = {{.name = "line",
                 .points = {{.x = 0.0, .y = 1.0}, {.x = 1.0, .y = NAN}, {.x = 2.0, .y = 3.0}}}}};
  const std::string svg = LineChartSvg(chart);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find(">line</text>"), std::string::npos);
}

TEST(ScatterSvg, NumbersEveryPointAlsoWhereAllAreTheSame) {
  Scatter scatter{.x_name = "x", .y_name = "y"};
  for (int i = 0; i < 5; ++i)
    scatter.points.push_back({.name = "p" + std::to_string(i), .x = 1.0, .y = 2.0});
  const std::string svg = ScatterSvg(scatter);
  for (int i = 1; i <= 5; ++i)
    EXPECT_NE(svg.find(">" + std::to_string(i) + "</text>"), std::string::npos) << i;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace segcal
