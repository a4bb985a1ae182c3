// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "methods/shared/calibrator.h"
#include "methods/shared/temperature_fit.h"

namespace segcal {

// Which voxels were held aside, and the threshold they gave.
struct EntropySplit {
  double gamma = std::numeric_limits<double>::infinity();  // infinite: no threshold
  bool only_correct = true;  // held aside from the correct voxels, else from all
  int64_t held = 0;
  uint64_t last_priority = 0;  // held aside: eligible and of a priority up to this, if any is held
  std::vector<std::string> warnings;
};

// Holds aside min(n / 10, 500) of the n correct voxels and finds the threshold that sends a share
// alpha of them away. One pass.
EntropySplit SplitByMisCoverage(const FitContext& context, double alpha);
// Holds aside min(n / 10, 500) of all n voxels and finds the threshold for this accuracy. One pass.
EntropySplit SplitByAccuracy(const FitContext& context, double accuracy);

// The temperature of the voxels that were not held aside and have entropy below gamma.
TemperatureFit FitTemperatureBelow(const FitContext& context,
                                   const EntropySplit& split,
                                   const TemperatureOptions& options);

}  // namespace segcal
