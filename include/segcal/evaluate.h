// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/metric_values.h"
#include "segcal/model.h"
#include "segcal/properties.h"
#include "segcal/run_options.h"
#include "segcal/statistics.h"

namespace segcal {

struct EvaluateOptions {
  RunOptions run;
  std::string split;  // empty: all cases
  // Options of metric families: {"calibration_error", {{"bins", "15"}}}.
  std::map<std::string, std::map<std::string, std::string>> metrics;
  // Families to compute, named by themselves or by one of their metrics. Empty: all but those that
  // keep every probability of a case in memory; {"all"}: those too.
  std::vector<std::string> families;
  bool keep_cells = false;  // fills CaseMetrics::cells
};

struct CaseMetrics {
  std::string id;
  std::string group;
  std::vector<MetricValue> metrics;
  std::vector<CellRow> cells;  // if asked for
  // Bins whose sums over cases give a metric of all voxels; about that metric ("ace").
  std::vector<Diagram> pooled_bins;
};

// Cases of one group, such as the slices of one patient.
struct GroupMetrics {
  std::string group;  // the id of a case that belongs to none
  int64_t cases = 0;
  std::vector<MetricValue> mean;    // over its cases
  std::vector<MetricValue> pooled;  // over its voxels
};

struct PipelineMetrics {
  std::string pipeline;
  Properties properties;            // as its model declares them
  std::vector<MetricValue> mean;    // over cases where it is defined, or pooled where the metric is
  std::vector<MetricValue> pooled;  // over all voxels at once
  std::vector<CaseMetrics> cases;
  std::vector<GroupMetrics> groups;     // empty unless the data set names groups
  std::vector<MetricValue> group_mean;  // mean over groups of their pooled values
  // Pooled. Diagrams of classes and regions leave out bins without voxels.
  std::vector<Diagram> diagrams;
};

struct EvaluateResult {
  std::string dataset;
  std::string split;
  std::vector<std::string> classes;
  int64_t voxels = 0;
  int64_t labelled = 0;
  // Probability rows, of the first pipeline's members, off by more than 1e-3.
  int64_t renormalised = 0;
  std::vector<PipelineMetrics> pipelines;
  // "case: why", with skip_bad. The file has the cases alone, as reasons hold paths of one machine.
  std::vector<std::string> skipped;
  std::vector<std::string> warnings;     // what a person should know
  std::optional<Statistics> statistics;  // if asked for
};

// A model of a pipeline that needs no fit: none(z), none(p), none(z0).
SEGCAL_EXPORT Model Baseline(const Dataset& dataset, const std::string& pipeline);

// All metrics of all models in one pass over the predictions.
SEGCAL_EXPORT EvaluateResult Evaluate(const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateOptions& options = {});

// The families that Evaluate computes with these options, which are checked as it checks them.
SEGCAL_EXPORT std::vector<std::string> SelectedFamilies(const EvaluateOptions& options);

// Intervals, comparisons and ranks from the values of cases, without reading voxels again. Several
// results are repeats of one study, of the same pipelines and metrics: another training, another
// draw of the calibration set.
SEGCAL_EXPORT Statistics ComputeStatistics(std::span<const EvaluateResult> repeats,
                                           const StatisticsOptions& options = {},
                                           const ProgressCallback& progress = {});

// Which of the pipelines StatisticsOptions::reference means: the one named, in any spelling that
// parses to the same and without options where they are not needed to tell it; the first if none is
// named. An Error if there is none or more than one of that name.
SEGCAL_EXPORT size_t ReferenceIndex(const std::vector<std::string>& pipelines,
                                    const std::string& reference);

// The metrics file: pipelines with `mean`, `pooled` and `metric_per_case`, as documented in
// docs/formats.md. It reads back to the same result; `where` names the text in messages.
SEGCAL_EXPORT std::string ToJson(const EvaluateResult& result);
SEGCAL_EXPORT EvaluateResult EvaluateResultFromJson(const std::string& text,
                                                    const std::string& where = "metrics");

// The same as a table: a row per pipeline and case, then per group, and the aggregates; a column
// per metric, and per metric and class.
SEGCAL_EXPORT std::string ToCsv(const EvaluateResult& result);

// CaseMetrics::cells of all pipelines and cases as a table.
SEGCAL_EXPORT std::string CellsCsv(const EvaluateResult& result);

}  // namespace segcal
