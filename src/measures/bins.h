// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/exact_sum.h"
#include "core/sums.h"

namespace segcal {

// A bin's totals over any number of voxels: all that a binned metric needs.
struct Bin {
  int64_t count = 0;
  int64_t correct = 0;
  ExactSum confidence;

  static constexpr auto SumFields() {
    return std::tuple(&Bin::count, &Bin::correct, &Bin::confidence);
  }
  // n_k (mean confidence - accuracy), (E2) times the count: the subtraction comes before the
  // division, so that a gap of one voxel in 2^33 is still exact.
  double SignedWeightedGap() const { return confidence.value() - static_cast<double>(correct); }
  double WeightedGap() const { return std::fabs(SignedWeightedGap()); }
  double Gap() const { return WeightedGap() / static_cast<double>(count); }
  double Accuracy() const { return static_cast<double>(correct) / static_cast<double>(count); }
};

// How gaps become one number (E3, E4, E7).
enum class Norm { kMean, kRootMeanSquare, kLargest };

// Errors of the bins of one diagram, docs/methods/calibration_error.md. NaN if all bins are empty.
// `total` is what gaps are weighted by; it differs from the sum of the counts where voxels outside
// all bins still count (bin rules that drop 0).
double BinnedError(const std::vector<Bin>& bins, int64_t total, Norm norm);
double AverageError(const std::vector<Bin>& bins);                  // (E5)
double DebiasedError(const std::vector<Bin>& bins, int64_t total);  // (E8)

// The parts of the squared error of a binary forecast that bin means explain (CW5-CW7).
struct BrierParts {
  double reliability = 0.0;
  double resolution = 0.0;
  double uncertainty = 0.0;
};
BrierParts DecomposeBrier(const std::vector<Bin>& bins);

int64_t TotalCount(const std::vector<Bin>& bins);

}  // namespace segcal
