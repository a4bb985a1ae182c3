// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace segcal {

// Mean of the defined (not NaN) values, entry `left_out` (-1: none) aside; NaN if there is none.
inline double MeanOfDefined(const std::vector<double>& values, int64_t left_out = -1) {
  double sum = 0.0;
  int64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]) || static_cast<int64_t>(i) == left_out) continue;
    sum += values[i];
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

// Sum of the values, entry `left_out` (-1: none) aside.
inline double SumOf(const std::vector<double>& values, int64_t left_out = -1) {
  double sum = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (static_cast<int64_t>(i) != left_out) sum += values[i];
  }
  return sum;
}

}  // namespace segcal
