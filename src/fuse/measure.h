// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuse/case_votes.h"
#include "segcal/metric_values.h"

namespace segcal {

// A metric of fusion, in the order of Measure.
struct FusionMetric {
  const char* name;
  bool of_changes;  // says what became of the uncalibrated segmentation, not how good it is
};
std::span<const FusionMetric> FusionMetrics();

// Measures segmentations of one labelled case: overlap, surfaces, and what changed against the
// uncalibrated one. What all of them share is computed once.
class FusionMeasure {
 public:
  // `reference` is the uncalibrated segmentation; both must outlive this.
  FusionMeasure(const CaseVotes& votes,
                const std::vector<uint16_t>& reference,
                const Dataset& dataset,
                double tolerance,
                int threads);

  // One value per entry of FusionMetrics(); NaN where one is not defined.
  std::vector<MetricValue> Measure(const std::vector<uint16_t>& fused) const;

 private:
  const CaseVotes& votes_;
  const std::vector<uint16_t>& reference_;
  int64_t num_classes_;
  int64_t background_;
  double tolerance_;
  int threads_;
  std::vector<uint8_t> boundary_;  // not zero in the region Boundary
  std::vector<uint8_t> all_;       // not zero in the region All
};

}  // namespace segcal
