// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace segcal {

// Two numbers of a pipeline with their intervals.
struct ScatterPoint {
  std::string name;
  double x = 0.0;
  double x_lower = 0.0;
  double x_upper = 0.0;
  double y = 0.0;
  double y_lower = 0.0;
  double y_upper = 0.0;
  bool strong = false;    // the one that is recommended
  bool baseline = false;  // not calibrated
};

struct Scatter {
  std::string title = {};  // what a screen reader says
  std::string x_name;
  std::string y_name;
  std::vector<ScatterPoint> points = {};
};

// Points with crosses of their intervals; each has a number that is named at the right. Numbers
// move aside where points are close.
std::string ScatterSvg(const Scatter& scatter);

}  // namespace segcal
