// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace segcal {

// One metric. NaN: not defined on this data (no labelled voxel, class absent).
struct MetricValue {
  std::string name;
  double value = 0.0;
  std::vector<double> per_class;  // empty, or one per class
};

// A bin of a reliability diagram.
struct ReliabilityRow {
  double lower = 0.0;
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

// A diagram and the voxels and values it is about: all by confidence ("top_label"), those predicted
// as a class ("predicted"), the probability of a class against the rest ("one_vs_rest"), or a
// region, band or set of patches.
struct ReliabilityDiagram {
  std::string kind;
  int64_t class_index = -1;  // -1: all
  std::vector<ReliabilityRow> rows;
};

// Sums of a fine range of confidence [lower, upper): every binned metric, with other bins too, is
// computed from these without reading voxels again.
struct CellRow {
  // "predicted", "predicted_by_band": confidence; "one_vs_rest": probability of the class
  std::string kind;
  int64_t class_index = -1;  // the predicted class, or the one
  int64_t band = 0;          // of distance to the label boundary; 0 where not told apart
  double lower = 0.0;
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

// Error rate of the most confident share of the voxels.
struct RiskRow {
  double coverage = 0.0;
  double risk = 0.0;
  double confidence = 0.0;  // of the last voxel accepted
};

// Calibration errors of random patches with sides of so many voxels.
struct PatchRow {
  int64_t side = 0;
  double ece_avg = 0.0;
  double ece_max = 0.0;
  double mce_avg = 0.0;
  double mce_max = 0.0;
};

}  // namespace segcal
