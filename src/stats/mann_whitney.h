// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace segcal {

enum class Alternative { kTwoSided, kLess, kGreater };

struct MannWhitneyResult {
  double u = 0.0;      // (RT1) of the first sample
  double p = 0.0;      // NaN if a sample is empty
  bool exact = false;  // from the distribution (RT2), else from the normal one (RT3)
};

// Whether values of x tend to differ from those of y (kLess: to lie below, kGreater: above). NaN
// takes no part. Exact without ties and with at most eight values in the smaller sample, else
// normal with corrections for ties and continuity.
MannWhitneyResult MannWhitneyU(std::span<const double> x,
                               std::span<const double> y,
                               Alternative alternative = Alternative::kTwoSided);

// p-values adjusted for the number of tests (RT4), in the order given: those at most 0.05 keep the
// share of false findings among all findings at 0.05. NaN is no test and stays.
std::vector<double> BenjaminiHochberg(std::span<const double> p);

}  // namespace segcal
