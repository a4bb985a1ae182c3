// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/raster.h"

namespace segcal {

struct LinePoint {
  double x = 0.0;
  double y = 0.0;
  double lower = 0.0;  // NaN: no interval
  double upper = 0.0;
};

struct ChartLine {
  std::string name = {};
  Rgb color = {};
  bool strong = false;  // drawn last and thick
  bool marked = true;   // points are drawn
  std::vector<LinePoint> points = {};
};

struct LineChart {
  std::string title = {};  // what a screen reader says
  std::string x_name = {};
  std::string y_name = {};
  std::vector<std::string> x_labels = {};  // of x = 0, 1, ...; empty: numbers
  std::vector<ChartLine> lines = {};
};

// Lines over a common axis with their intervals, and a legend below.
std::string LineChartSvg(const LineChart& chart);

}  // namespace segcal
