// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/shared/calibrator.h"
#include "pipeline/spec.h"
#include "segcal/fit_report.h"
#include "segcal/model.h"

namespace segcal {

// What a model file holds.
struct ModelState {
  PipelineSpec spec;
  std::string pipeline;  // FormatPipeline(spec)
  std::vector<std::string> classes;
  InputKind input = InputKind::kLogits;
  double floor = 0.0;
  std::unique_ptr<const Calibrator> calibrator;
  FitReport fit;
  std::string file;  // it was read from; no part of it

  Properties properties() const;
};

// What a pipeline guarantees: what its calibrator does, and invariance to offsets wherever the
// calibrator sees log-probabilities, which have none: after the mean of probabilities, and for
// input that is not logits.
Properties PipelineProperties(const Calibrator& calibrator,
                              const Pooling& pooling,
                              InputKind input);

// The way from a model to its state and back, for the library itself.
class ModelAccess {
 public:
  static const ModelState& State(const Model& model) noexcept { return *model.state_; }
  static Model Make(std::shared_ptr<const ModelState> state) { return Model(std::move(state)); }
};

// A model that needs no fit, for baselines such as none(z).
Model UnfittedModel(const PipelineSpec& spec,
                    const std::vector<std::string>& classes,
                    InputKind input);

}  // namespace segcal
