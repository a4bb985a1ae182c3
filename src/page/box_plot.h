// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

namespace segcal {

// Smallest, lower quartile, median, upper quartile, largest of the finite values; NaN without any.
using FiveNumber = std::array<double, 5>;
FiveNumber FiveNumbers(std::vector<double> values);

struct BoxRow {
  std::string name;
  FiveNumber five;
  bool strong = false;  // the one that is recommended
};

struct BoxPlot {
  std::string title;  // what a screen reader says first
  std::string x_name;
  std::vector<BoxRow> rows = {};
};

// A box per row over a common axis.
std::string BoxPlotSvg(const BoxPlot& plot);

}  // namespace segcal
