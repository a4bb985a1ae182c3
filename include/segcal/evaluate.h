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
};

// One metric. NaN: not defined on this data (no labelled voxel).
struct MetricResult {
  std::string name;
  double value = 0.0;
  std::vector<double> per_class;  // empty, or one per class
};

struct CaseMetrics {
  std::string id;
  std::vector<MetricResult> metrics;
};

// A bin of a reliability diagram.
struct ReliabilityRow {
  double lower = 0.0;
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

struct PipelineMetrics {
  std::string pipeline;
  std::vector<MetricResult> mean;  // over cases where it is defined, or pooled where the metric is
  std::vector<MetricResult> pooled;  // over all voxels at once
  std::vector<CaseMetrics> cases;
  std::vector<ReliabilityRow> reliability;  // pooled
};

struct EvaluateResult {
  std::string dataset;
  std::string split;
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

}  // namespace segcal
