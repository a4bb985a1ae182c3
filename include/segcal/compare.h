// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/fit.h"
#include "segcal/fit_report.h"
#include "segcal/model.h"
#include "segcal/properties.h"
#include "segcal/run_options.h"
#include "segcal/statistics.h"
#include "segcal/study.h"

namespace segcal {

// Other data that the models of a study are evaluated on as they are.
struct ShiftedData {
  std::string name;  // "mild"
  Dataset dataset;   // all of its labelled cases
};

// What a recommended pipeline must satisfy, and what it is chosen by.
struct RecommendOptions {
  std::string score = "nll";                 // or brier, ece, ace, ba_ece
  Preserves preserves = Preserves::kArgmax;  // at least
  bool translation_invariant = true;
};

struct CompareOptions {
  RunOptions run = {};
  // Pipelines and named sets; none(z0), none(p) and none(z) are always added.
  std::vector<std::string> pipelines = {"paper"};
  int64_t repeats = 3;
  // Calibration, validation and test, as proportions or exact numbers of groups. Empty: the sizes
  // of the data set's own splits, and with one repeat these splits themselves; 0.4, 0.2, 0.4 where
  // it has none.
  std::vector<double> split = {};
  uint64_t seed = 0;
  // As for FitOptions.
  std::optional<int64_t> search = {};
  Selection select = Selection::kValidation;
  // As for EvaluateOptions.
  std::vector<std::string> families = {};
  std::map<std::string, std::map<std::string, std::string>> metrics = {};
  // Beside those of the main paper that the pipelines have.
  std::vector<PipelinePair> pairs = {};
  int64_t replicates = 2000;  // of the bootstrap
  double level = 0.95;

  // Fits every affine pipeline once more with the main paper's own objective.
  bool paper_objective = false;
  // Sensitivity of the results: numbers of calibration groups, of bins, of members.
  std::vector<int64_t> calibration_cases = {};
  std::vector<int64_t> ece_bins = {};
  std::vector<int64_t> ace_bins = {};
  std::vector<int64_t> members = {};
  std::vector<ShiftedData> shifts = {};

  RecommendOptions recommend = {};

  // Where models, the recommended one and finished units are kept; empty: nowhere. A folder that
  // holds units is an Error unless `resume` is set, which goes on with those that are the same.
  std::string folder = {};
  bool resume = false;
  // What others have in that folder may be written over.
  bool force = false;
};

// Runs the protocol of the main paper: for every repeat a partition of the cases by group, a fit of
// every pipeline on the calibration cases, options chosen by the validation cases, and every metric
// on the test cases. A unit that fails is reported in the result, and the others go on.
SEGCAL_EXPORT Study Compare(const Dataset& dataset, const CompareOptions& options = {});

// Commands for a shell that apply, check and export the recommended model of the study in a folder;
// empty: the folder they are run in.
SEGCAL_EXPORT std::vector<std::string> RecommendedCommands(const std::string& folder,
                                                           const std::string& dataset);

// A model that was chosen and fitted without being named.
struct AutoResult {
  Model model;
  Recommendation recommendation;  // its candidates and reasons
};

// What `segcal fit -p auto` does: the choice of Compare from a few candidates (no calibration,
// temperatures, argmax- and order-preserving maps), by the validation cases, or a third of the
// groups where there are none; fitted on all of these cases.
SEGCAL_EXPORT AutoResult FitAuto(const Dataset& dataset,
                                 const FitOptions& options = {},
                                 const RecommendOptions& recommend = {});

// The matched comparisons of the main paper.
SEGCAL_EXPORT std::vector<PipelinePair> PaperPairs();

}  // namespace segcal
