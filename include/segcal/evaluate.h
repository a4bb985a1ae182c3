// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/fit.h"
#include "segcal/model.h"

namespace segcal {

struct EvaluateOptions {
  RunOptions run;
  std::string split;  // empty: all cases
  // Options of metric families: {"calibration_error", {{"bins", "15"}}}.
  std::map<std::string, std::map<std::string, std::string>> metrics;
  // Families to compute. Empty: all but those that keep every probability of a case in memory;
  // {"all"}: those too.
  std::vector<std::string> families;
  bool keep_cells = false;  // fills CaseMetrics::cells
};

// One metric. NaN: not defined on this data (no labelled voxel).
struct MetricResult {
  std::string name;
  double value = 0.0;
  std::vector<double> per_class;  // empty, or one per class
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

struct CaseMetrics {
  std::string id;
  std::string group;
  std::vector<MetricResult> metrics;
  std::vector<CellRow> cells;  // if asked for
};

// Cases of one group, such as the slices of one patient.
struct GroupMetrics {
  std::string group;  // the id of a case that belongs to none
  int64_t cases = 0;
  std::vector<MetricResult> mean;    // over its cases
  std::vector<MetricResult> pooled;  // over its voxels
};

// A bin of a reliability diagram.
struct ReliabilityRow {
  double lower = 0.0;
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

// A diagram of one class: of voxels predicted as it ("predicted"), or of its probability against
// the rest ("one_vs_rest").
struct ClassReliability {
  std::string kind;
  int64_t class_index = -1;
  std::vector<ReliabilityRow> rows;
};

// Error rate of the most confident share of the voxels.
struct RiskRow {
  double coverage = 0.0;
  double risk = 0.0;
  double confidence = 0.0;  // of the last voxel that is accepted
};

struct PipelineMetrics {
  std::string pipeline;
  std::vector<MetricResult> mean;  // over cases where it is defined, or pooled where the metric is
  std::vector<MetricResult> pooled;  // over all voxels at once
  std::vector<CaseMetrics> cases;
  std::vector<GroupMetrics> groups;                  // empty unless the data set names groups
  std::vector<MetricResult> group_mean;              // mean over groups of their pooled values
  std::vector<ReliabilityRow> reliability;           // of the confidence, pooled
  std::vector<ClassReliability> region_reliability;  // pooled: boundary, all, bands of distance
  std::vector<ClassReliability> class_reliability;   // pooled
  std::vector<int64_t> confusion;                    // [label][predicted], pooled
  std::vector<RiskRow> risk_coverage;                // pooled
};

struct EvaluateResult {
  std::string dataset;
  std::string split;
  std::vector<std::string> classes;
  int64_t voxels = 0;
  int64_t labelled = 0;
  int64_t renormalised =
      0;  // probability rows, of the first pipeline's members, off by more than 1e-3
  std::vector<PipelineMetrics> pipelines;
  std::vector<std::string> skipped;
};

// A model of a pipeline that needs no fit: none(z), none(p), none(z0).
Model Baseline(const Dataset& dataset, const std::string& pipeline);

// All metrics of all models in one pass over the predictions.
EvaluateResult Evaluate(const Dataset& dataset,
                        const std::vector<Model>& models,
                        const EvaluateOptions& options = {});

// The metrics file: pipelines with `mean`, `pooled` and `metric_per_case`, as documented in
// docs/formats.md.
std::string ToJson(const EvaluateResult& result);

// The same as a table: a row per pipeline and case, then per group, and the aggregates; a column
// per metric, and per metric and class.
std::string ToCsv(const EvaluateResult& result);

// CaseMetrics::cells of all pipelines and cases as a table.
std::string CellsCsv(const EvaluateResult& result);

}  // namespace segcal
