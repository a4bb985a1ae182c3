// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace segcal {

// The quantile q in [0, 1] of values without NaN, linear between order statistics: position
// q (n - 1) of the sorted values, as NumPy has it by default. Reorders the values; NaN if there are
// none.
inline double Quantile(std::span<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), below, values.end());
  const double share = position - std::floor(position);
  // Also at the last value, which has none above it.
  if (share == 0.0) return *below;
  const double above = *std::min_element(below + 1, values.end());
  return *below + share * (above - *below);
}

}  // namespace segcal
