// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/fit.h"
#include "segcal/run_options.h"

namespace segcal {

// How pipelines are fitted on the cases of a session.
struct SessionOptions {
  RunOptions run;
  uint64_t seed = 0;
  std::optional<int64_t> search;  // as in FitOptions
  Selection select = Selection::kValidation;
};

// Fits of several pipelines on the same calibration and validation cases. What they share (decoded
// data, samples, surveys, temperatures, folds) is made once per pooling.
class FitSession {
 public:
  // `validation` may have no cases. `poolings` are those of all pipelines to come.
  FitSession(const Dataset& calibration,
             const Dataset& validation,
             const std::vector<Pooling>& poolings,
             const SessionOptions& options);

  // So many fits may from now on go on at the same time, each with its share of the memory. To be
  // called while none does.
  void ShareMemory(int fits) { all_.ShareMemory(fits); }

  // Where penalties are chosen by folds, on the cases of both, else on the calibration cases.
  Model Fit(const PipelineSpec& spec, const CheckpointFile& checkpoint = {});

 private:
  CaseStream all_;
  std::unique_ptr<CaseStream> calibration_;  // parts of `all_`: they share what is kept open
  std::unique_ptr<CaseStream> validation_;   // null: none
  SharedData of_all_;
  SharedData of_calibration_;
  SessionOptions options_;
};

}  // namespace segcal
