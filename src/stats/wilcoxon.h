// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "stats/mann_whitney.h"

namespace segcal {

struct WilcoxonResult {
  double w = 0.0;      // (WX1): sum of the ranks of the positive differences
  double p = 0.0;      // NaN without a difference
  bool exact = false;  // from the distribution (WX2), else from the normal one (WX3)
};

// Whether paired differences lie around zero (kLess: tend to lie below, kGreater: above). NaN takes
// no part. Exact for at most 50 differences without zeros and ties, else normal with a correction
// for ties, zeros left out. Zeros alone: p = 1.
WilcoxonResult WilcoxonSignedRank(std::span<const double> differences,
                                  Alternative alternative = Alternative::kTwoSided);

}  // namespace segcal
