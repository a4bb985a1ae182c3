// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "core/exact_sum.h"
#include "core/sums.h"

namespace segcal {

// Mean of the defined (not NaN) values, the same for any order of adding; NaN if there is none.
struct ExactMean {
  ExactSum sum;
  int64_t count = 0;

  void Add(double value) {
    if (std::isnan(value)) return;
    sum.Add(value);
    ++count;
  }
  static constexpr auto SumFields() { return std::tuple(&ExactMean::sum, &ExactMean::count); }
  double value() const { return sum.value() / static_cast<double>(count); }
};

}  // namespace segcal
