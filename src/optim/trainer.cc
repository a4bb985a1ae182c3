// SPDX-License-Identifier: Apache-2.0
#include "optim/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/check.h"
#include "core/names.h"

namespace segcal {
namespace {

constexpr NameList<4> kStopNames = {"max_epochs", "patience", "hook", "not_finite"};

// All minibatches of the next epoch; their mean loss, or nothing where a loss or gradient is not
// finite. The parameters are then those before the step at fault.
std::optional<double> RunSteps(Trainable* problem, const TrainOptions& options, TrainState* state) {
  const int64_t steps = problem->steps_per_epoch();
  std::vector<double> gradient(state->parameters.size());
  double sum = 0.0;
  for (int64_t step = 0; step < steps; ++step) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    const double loss = problem->Step(state->epochs(), step, state->parameters, gradient);
    const bool finite =
        std::isfinite(loss) &&
        std::all_of(gradient.begin(), gradient.end(), [](double g) { return std::isfinite(g); });
    if (!finite) return std::nullopt;
    AdamStep(
        options.adam, state->plateau.learning_rate, gradient, &state->moments, state->parameters);
    sum += loss;
  }
  return sum / static_cast<double>(steps);
}

void CloseEpoch(double training_loss,
                double validation_loss,
                const TrainOptions& options,
                TrainState* state) {
  state->history.push_back({.learning_rate = state->plateau.learning_rate,
                            .training_loss = training_loss,
                            .validation_loss = validation_loss});
  if (validation_loss < state->best_loss) {
    state->best_loss = validation_loss;
    state->best_parameters = state->parameters;
    state->best_epoch = state->epochs();
  }
  UpdatePlateau(options.plateau, validation_loss, &state->plateau);
}

bool OutOfPatience(const TrainOptions& options, const TrainState& state) {
  return options.patience > 0 && state.epochs() - state.best_epoch >= options.patience;
}

}  // namespace

const char* Name(TrainStop stop) noexcept { return FindName(stop, kStopNames); }

TrainStop ParseTrainStop(const std::string& name) {
  return ParseName<TrainStop>("end of a training", name, kStopNames);
}

TrainState StartTraining(Trainable* problem,
                         std::vector<double> start,
                         const TrainOptions& options) {
  SEGCAL_DCHECK(static_cast<int64_t>(start.size()) == problem->num_parameters());
  TrainState state;
  state.start_loss = problem->Validate(start);
  if (!std::isfinite(state.start_loss)) state.start_loss = std::numeric_limits<double>::infinity();
  state.best_loss = state.start_loss;
  state.best_parameters = start;
  state.parameters = std::move(start);
  state.plateau.learning_rate = options.adam.learning_rate;
  state.plateau.best = state.start_loss;
  return state;
}

TrainResult Train(Trainable* problem,
                  TrainState state,
                  const TrainOptions& options,
                  const EpochHook& hook) {
  const auto end = [&](TrainStop stop) {
    return TrainResult{.state = std::move(state), .stopped_by = stop};
  };
  for (;;) {
    // Asked before the epoch, not after: a state that was kept when training ended ends here too.
    if (OutOfPatience(options, state)) return end(TrainStop::kPatience);
    if (state.epochs() >= options.max_epochs) return end(TrainStop::kMaxEpochs);
    const std::optional<double> training_loss = RunSteps(problem, options, &state);
    if (!training_loss) return end(TrainStop::kNotFinite);
    const double validation_loss = problem->Validate(state.parameters);
    if (!std::isfinite(validation_loss)) return end(TrainStop::kNotFinite);
    CloseEpoch(*training_loss, validation_loss, options, &state);
    if (hook && !hook(state)) return end(TrainStop::kHook);
  }
}

}  // namespace segcal
