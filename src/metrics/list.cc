// SPDX-License-Identifier: Apache-2.0
#include "metrics/metric.h"

namespace segcal {

extern const MetricInfo kAdaptive, kBoundaryErrors, kCalibrationErrors, kClasswise, kFlips,
    kFreeEnergy, kLocal, kOverlap, kRegional, kScores, kSelection, kSurface;

const std::vector<const MetricInfo*>& Metrics() {
  static const std::vector<const MetricInfo*> metrics = {
      &kScores,
      &kCalibrationErrors,
      &kClasswise,
      &kAdaptive,
      &kSelection,
      &kBoundaryErrors,
      &kLocal,
      &kRegional,
      &kOverlap,
      &kSurface,
      &kFlips,
      &kFreeEnergy,
  };
  return metrics;
}

const MetricNumber* FindNumber(const std::string& name) {
  for (const MetricInfo* info : Metrics()) {
    for (const MetricNumber& number : info->numbers) {
      if (name == number.name) return &number;
    }
  }
  return nullptr;
}

}  // namespace segcal
