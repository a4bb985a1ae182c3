// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/model.h"
#include "segcal/run_options.h"

namespace segcal {

struct FitOptions {
  RunOptions run;
  std::string
      split;  // cases to fit on; empty: "calibration" where the data set names splits, else all
  // Cases to choose options by; empty: "validation" where the data set has such cases, else none.
  std::string validation;
  // Trials of the search for a method's penalties or training options. Absent: 20 where there are
  // cases to choose by, else none. With trials but no such cases, penalties are chosen by five-fold
  // cross-validation over groups, trainings by groups they hold out.
  std::optional<int64_t> search;
  // How a search for penalties goes by validation cases: with kFolds, which is the default, groups
  // of the calibration and validation cases are held out in turn, and the model is fitted on all of
  // them; kValidation is the protocol of the main paper. Trainings always stop by validation cases.
  std::optional<Selection> select;
  uint64_t seed = 0;
  // A file in which a training keeps its state after every epoch; empty: nowhere. Methods that are
  // not trained leave it alone. It stays when the fit has ended: remove it once the model is saved.
  std::string checkpoint;
  // A model file that this same fit may have written before: with `resume` that model is the
  // result, and nothing is fitted. Empty: none.
  std::string finished;
  // Whether to go on from these files, where they are there; a checkpoint that another fit has left
  // is an Error.
  bool resume = false;
};

struct FitResult {
  Model model;                       // where it was kept, file() says from where
  std::vector<std::string> skipped;  // "case: why", with skip_bad
};

// Fits `pipeline`, for example "ts(z)", on the cases of options.split.
SEGCAL_EXPORT FitResult Fit(const Dataset& dataset,
                            const std::string& pipeline,
                            const FitOptions& options = {});

// Pipelines by name: a named set ("paper", "fast", "preserving", "all") becomes its pipelines, a
// pipeline its canonical text; each once, in this order. A name may be several, with commas:
// "ts(z),dc(p)".
SEGCAL_EXPORT std::vector<std::string> ExpandPipelines(const std::vector<std::string>& names);

}  // namespace segcal
