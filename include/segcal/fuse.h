// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/metric_values.h"
#include "segcal/model.h"
#include "segcal/run_options.h"
#include "segcal/statistics.h"
#include "segcal/tables.h"

namespace segcal {

// Label fusion: many candidate segmentations of one image become one, docs/methods/fusion.md.

struct FusionDescription {
  std::string name;  // "jlf"
  std::string summary;
};
SEGCAL_EXPORT std::vector<FusionDescription> ListFusions();

struct FuseOptions {
  RunOptions run;
  std::string split;           // empty: all cases
  std::string method = "jlf";  // a name of ListFusions()
  // Of jlf: added to the diagonal of its matrix, as a multiple of the diagonal's mean; positive.
  double ridge = 0.1;
  bool clip = false;          // of jlf: negative weights become 0
  double tolerance = 1.0;     // of the surface Dice score, in units of the spacing
  std::string format;         // of the files; empty: PNG in 2-D, NIfTI with NIfTI labels, else npy
  int64_t replicates = 2000;  // of the bootstrap
  uint64_t seed = 0;
};

struct FusedCase {
  std::string id;
  std::vector<MetricValue> metrics;  // none without labels
};

// One way to fuse: without calibration, with a model, or a bound that looks at the labels.
struct FusionRow {
  std::string name;  // "uncalibrated", "ts(z)", "best calibration", "best fusion"
  std::vector<FusedCase> cases = {};
  std::vector<MetricInterval> means = {};  // over cases, of every metric
  std::vector<MetricInterval> differences =
      {};  // from "uncalibrated", paired by case; empty for it
};

struct FuseResult {
  std::string dataset;
  std::string split;
  std::string method;
  int64_t candidates = 0;
  int64_t cases = 0;
  int64_t voxels = 0;
  std::vector<FusionRow> rows;
  std::vector<std::string> files;
  std::vector<std::string> skipped;  // "case: why", with skip_bad
};

// Fuses the candidates of every case: without calibration, then with the reliabilities that each
// model gives. `folder`, if it is not empty, must be new or empty and gets <case id>.<extension>:
// the segmentation by the last model, or without calibration where there is none; with several
// models, one sub-folder each and "uncalibrated". Cases with labels are measured, and the two
// bounds with them.
SEGCAL_EXPORT FuseResult Fuse(const Dataset& dataset,
                              const std::vector<Model>& models,
                              const std::string& folder,
                              const FuseOptions& options = {});

// The candidates as a data set to fit and evaluate calibrators on: a case per case and candidate,
// called <case>__<number>, grouped by case. Where candidates are class probabilities it is these;
// where they are label maps, it has the classes "wrong" and "right". Writes dataset.json and what
// it needs to `folder`, new or empty.
SEGCAL_EXPORT Dataset WriteVotes(const Dataset& dataset,
                                 const std::string& folder,
                                 const RunOptions& run = {});

// Does calibration improve the fused segmentation? Writes the votes to folder/votes, fits every
// pipeline on their calibration cases (and validation cases, if any) and saves it in folder/models,
// then fuses the cases of options.split, "test" unless given, into folder/fused.
SEGCAL_EXPORT FuseResult FuseStudy(const Dataset& dataset,
                                   const std::vector<std::string>& pipelines,
                                   const std::string& folder,
                                   const FuseOptions& options = {});

// A row per way to fuse, laid out as Table 2 of [Ding21]. `intervals`: behind every value.
SEGCAL_EXPORT Table FusionTable(const FuseResult& result, bool intervals);
// How the rows differ from the uncalibrated one.
SEGCAL_EXPORT Table FusionDifferences(const FuseResult& result);

// As documented in docs/formats.md.
SEGCAL_EXPORT std::string ToJson(const FuseResult& result);

}  // namespace segcal
