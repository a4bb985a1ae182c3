// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model.h"

#include "calibrators/list.h"

namespace segcal {

Properties ModelState::properties() const {
  return PipelineProperties(*calibrator, spec.pooling, input);
}

Properties PipelineProperties(const Calibrator& calibrator,
                              const Pooling& pooling,
                              InputKind input) {
  Properties properties = calibrator.properties();
  if (input != InputKind::kLogits || pooling.rule == PoolRule::kMeanProbs)
    properties.translation_invariant = true;
  return properties;
}

const std::string& Model::pipeline() const { return state_->pipeline; }
const std::vector<std::string>& Model::classes() const { return state_->classes; }
InputKind Model::input() const { return state_->input; }
bool Model::translation_invariant() const { return state_->properties().translation_invariant; }
Preserves Model::preserves() const { return state_->properties().preserves; }
const std::string& Model::file() const { return state_->file; }
const FitReport& Model::report() const { return state_->fit; }
int64_t Model::num_members() const { return state_->fit.data.members; }
ParameterCounts Model::parameter_counts() const {
  return state_->calibrator->counts(static_cast<int64_t>(state_->classes.size()));
}
std::optional<double> Model::inverse_temperature() const {
  return state_->calibrator->inverse_temperature();
}

Model UnfittedModel(const PipelineSpec& spec,
                    const std::vector<std::string>& classes,
                    InputKind input) {
  auto state = std::make_shared<ModelState>();
  state->spec = spec;
  state->pipeline = FormatPipeline(spec);
  state->classes = classes;
  state->input = input;
  state->floor = InputFloor(input);
  state->calibrator = MakeCalibrator(spec.stages, spec.options);
  return ModelAccess::Make(std::move(state));
}

}  // namespace segcal
