// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/shared/calibrator.h"
#include "pipeline/spec.h"
#include "segcal/model.h"

namespace segcal {

// Where a model comes from; empty (no cases) for a model that was not fitted.
struct FitReport {
  std::string data_name;
  int64_t cases = 0;
  int64_t voxels = 0;
  int64_t labelled = 0;
  uint64_t hash = 0;  // of the values, decisions and labels it was fitted on
  double nll_before = 0.0;
  FitOutcome outcome;
};

// What a model file holds.
struct ModelState {
  PipelineSpec spec;
  std::string pipeline;  // FormatPipeline(spec)
  std::vector<std::string> classes;
  InputKind input = InputKind::kLogits;
  double floor = 0.0;
  std::unique_ptr<Calibrator> calibrator;
  FitReport fit;
};

// A model that needs no fit, for baselines such as none(z).
Model UnfittedModel(const PipelineSpec& spec,
                    const std::vector<std::string>& classes,
                    InputKind input);

}  // namespace segcal
