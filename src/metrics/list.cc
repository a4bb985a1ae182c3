// SPDX-License-Identifier: Apache-2.0
#include "metrics/metric.h"

namespace segcal {

extern const MetricInfo kCalibrationErrors, kFlips, kFreeEnergy, kOverlap, kScores;

const std::vector<const MetricInfo*>& Metrics() {
  static const std::vector<const MetricInfo*> metrics = {
      &kScores, &kCalibrationErrors, &kOverlap, &kFlips, &kFreeEnergy};
  return metrics;
}

}  // namespace segcal
