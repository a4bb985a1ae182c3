// SPDX-License-Identifier: Apache-2.0
#include "optim/train_json.h"

#include <limits>

#include "core/json.h"

namespace segcal {
namespace {

// A loss that is not finite is kept as null and stands for the worst.
double LossAt(JsonObject* object, const std::string& key) {
  return object->OptionalNumber(key).value_or(std::numeric_limits<double>::infinity());
}

}  // namespace

Json HistoryToJson(const std::vector<TrainEpoch>& history) {
  std::vector<double> rates;
  std::vector<double> training;
  std::vector<double> validation;
  for (const TrainEpoch& epoch : history) {
    rates.push_back(epoch.learning_rate);
    training.push_back(epoch.training_loss);
    validation.push_back(epoch.validation_loss);
  }
  return {{"learning_rate", rates}, {"training_loss", training}, {"validation_loss", validation}};
}

std::vector<TrainEpoch> HistoryFromJson(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  const std::vector<double> rates = object.Numbers("learning_rate");
  const auto count = static_cast<int64_t>(rates.size());
  const std::vector<double> training = object.Numbers("training_loss", count);
  const std::vector<double> validation = object.Numbers("validation_loss", count);
  object.Finish();
  std::vector<TrainEpoch> history;
  for (size_t e = 0; e < rates.size(); ++e) {
    history.push_back({.learning_rate = rates[e],
                       .training_loss = training[e],
                       .validation_loss = validation[e]});
  }
  return history;
}

Json TrainStateToJson(const TrainState& state) {
  return {{"parameters", state.parameters},
          {"first_moments", state.moments.first},
          {"second_moments", state.moments.second},
          {"steps", state.moments.steps},
          {"learning_rate", state.plateau.learning_rate},
          {"plateau_best", JsonNumber(state.plateau.best)},
          {"plateau_waited", state.plateau.waited},
          {"best_parameters", state.best_parameters},
          {"best_loss", JsonNumber(state.best_loss)},
          {"best_epoch", state.best_epoch},
          {"start_loss", JsonNumber(state.start_loss)},
          {"history", HistoryToJson(state.history)}};
}

TrainState TrainStateFromJson(const Json& json, int64_t num_parameters, const std::string& where) {
  JsonObject object(json, where);
  TrainState state;
  state.parameters = object.Numbers("parameters", num_parameters);
  state.moments.steps = object.Integer("steps");
  const int64_t moments = state.moments.steps > 0 ? num_parameters : 0;
  state.moments.first = object.Numbers("first_moments", moments);
  state.moments.second = object.Numbers("second_moments", moments);
  state.plateau.learning_rate = object.Number("learning_rate");
  state.plateau.best = LossAt(&object, "plateau_best");
  state.plateau.waited = object.Integer("plateau_waited");
  state.best_parameters = object.Numbers("best_parameters", num_parameters);
  state.best_loss = LossAt(&object, "best_loss");
  state.best_epoch = object.Integer("best_epoch");
  state.start_loss = LossAt(&object, "start_loss");
  state.history = HistoryFromJson(object.Object("history"), where + ": history");
  object.Finish();
  return state;
}

}  // namespace segcal
