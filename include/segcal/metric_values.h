// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/export.h"

namespace segcal {

// One metric. NaN: not defined on this data (no labelled voxel, class absent).
struct MetricValue {
  std::string name;
  double value = 0.0;
  std::vector<double> per_class;  // empty, or one per class
};

// The metric of that name; null where it was not computed.
SEGCAL_EXPORT const MetricValue* FindMetric(const std::vector<MetricValue>& metrics,
                                            const std::string& name) noexcept;
// Its value, or that of a class; NaN where it was not computed or is not defined.
SEGCAL_EXPORT double FindValue(const std::vector<MetricValue>& metrics,
                               const std::string& name) noexcept;
SEGCAL_EXPORT double FindValue(const std::vector<MetricValue>& metrics,
                               const std::string& name,
                               int64_t class_index) noexcept;

// What the rows of a diagram are.
enum class DiagramKind {
  kReliability,   // a bin of confidence: lower, upper, count, correct, confidence_sum
  kConfusion,     // a label; a column per predicted class, named by its index
  kRiskCoverage,  // the most confident share of the voxels: coverage, risk (its error rate),
                  // confidence (of the last voxel accepted)
  kPatchSweep,    // a side of random patches: patch, and their mean and largest errors
};
SEGCAL_EXPORT const char* Name(DiagramKind kind) noexcept;  // "reliability", "confusion", ...

struct DiagramColumn {
  std::string name;
  bool count = false;  // whole numbers
};

// A table to draw: what it shows, of which voxels, and rows of numbers.
struct Diagram {
  DiagramKind kind = DiagramKind::kReliability;
  // Which voxels and values, where a pipeline has several of a kind: all by confidence
  // ("top_label"), those predicted as a class ("predicted"), the probability of a class against the
  // rest ("one_vs_rest"), or a region, band or set of patches ("boundary", "distance_0_3",
  // "local_avg"). Of bins that a pooled metric is computed from: the metric ("ace").
  std::string about = {};
  int64_t class_index = -1;  // -1: all classes
  std::vector<DiagramColumn> columns = {};
  std::vector<std::vector<double>> rows = {};  // a number per column
};

// The first such diagram; null without one. An empty `about` is any.
SEGCAL_EXPORT const Diagram* FindDiagram(const std::vector<Diagram>& diagrams,
                                         DiagramKind kind,
                                         const std::string& about = {},
                                         int64_t class_index = -1) noexcept;

// A bin of a reliability diagram.
struct ReliabilityRow {
  double lower = 0.0;
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

// The rows of a diagram of kind kReliability, by their names.
SEGCAL_EXPORT std::vector<ReliabilityRow> ReliabilityRows(const Diagram& diagram);

// Sums of a fine range of confidence [lower, upper): every binned metric, with other bins too, is
// computed from these without reading voxels again.
struct CellRow {
  // "predicted", "predicted_by_band": confidence; "one_vs_rest": probability of the class
  std::string kind;
  int64_t class_index = -1;  // the predicted class, or the one
  int64_t band = 0;          // of distance to the label boundary; 0 where not told apart
  double lower = 0.0;
  double upper = 0.0;  // infinite: no end
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

}  // namespace segcal
