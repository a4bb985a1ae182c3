// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/fit.h"

namespace segcal {

// What is in one case.
struct CaseSummary {
  std::string id;
  std::string split;
  std::vector<int64_t> shape;
  std::string dtype;  // of the first member
  int64_t labelled = 0;
  double accuracy = 0.0;          // of the mean logits; NaN without labels
  double free_energy_mean = 0.0;  // F = log sum exp z of the mean logits, over all voxels
  double free_energy_std = 0.0;
};

struct DatasetSummary {
  std::vector<CaseSummary> cases;
  int64_t voxels = 0;  // but for masked ones
  int64_t labelled = 0;
  std::vector<int64_t> label_counts;     // per class
  std::vector<int64_t> decision_counts;  // per class, over all voxels but masked ones
  int64_t repeated = 0;                  // voxels in runs of exactly equal predictions
  std::vector<double> repeated_example;  // one such prediction, as logits
  int64_t renormalised = 0;
  std::vector<std::string> skipped;
};

// One pass over all predictions, pooled as mean logits.
DatasetSummary Inspect(const Dataset& dataset, const RunOptions& options = {});

}  // namespace segcal
