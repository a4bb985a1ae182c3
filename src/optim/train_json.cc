// SPDX-License-Identifier: Apache-2.0
#include "optim/train_json.h"

#include <cmath>
#include <limits>

#include "core/json.h"
#include "core/throw.h"

namespace segcal {
namespace {

// One number per epoch.
std::vector<double> EpochNumbers(JsonObject* object, const std::string& key, size_t count) {
  std::vector<double> numbers = object->AnyNumbers(key);
  if (numbers.size() != count)
    Throw(ErrorCode::kBadData,
          "{}: {} has {} numbers, {} are required",
          object->where(),
          key,
          numbers.size(),
          count);
  return numbers;
}

}  // namespace

double LossAt(JsonObject* object, const std::string& key) {
  const double loss = object->AnyNumber(key);
  return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
}

Json HistoryToJson(const std::vector<TrainEpoch>& history) {
  std::vector<double> rates;
  std::vector<double> training;
  std::vector<double> validation;
  for (const TrainEpoch& epoch : history) {
    rates.push_back(epoch.learning_rate);
    training.push_back(epoch.training_loss);
    validation.push_back(epoch.validation_loss);
  }
  return {{"learning_rate", JsonNumbers(rates)},
          {"training_loss", JsonNumbers(training)},
          {"validation_loss", JsonNumbers(validation)}};
}

std::vector<TrainEpoch> HistoryFromJson(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  const std::vector<double> rates = object.AnyNumbers("learning_rate");
  const std::vector<double> training = EpochNumbers(&object, "training_loss", rates.size());
  const std::vector<double> validation = EpochNumbers(&object, "validation_loss", rates.size());
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
