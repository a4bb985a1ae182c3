// SPDX-License-Identifier: Apache-2.0
#include "methods/training/training_trials.h"

#include <limits>

#include "core/json.h"
#include "core/throw.h"
#include "optim/train_json.h"

namespace segcal {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

TrainResult FinishedFromJson(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  TrainResult trial;
  trial.stopped_by = object.Parse("stopped_by", ParseTrainStop);
  trial.state.best_loss = LossAt(&object, "best_loss");
  trial.state.best_epoch = object.Integer("best_epoch");
  trial.state.start_loss = LossAt(&object, "start_loss");
  trial.state.history = HistoryFromJson(object.Object("history"), where + ": history");
  trial.state.best_parameters = object.Numbers("best_parameters");
  object.Finish();
  return trial;
}

}  // namespace

double TrainingTrials::best_loss() const {
  return best < 0 ? kWorst : finished[static_cast<size_t>(best)].state.best_loss;
}

void TrainingTrials::Finish(TrainResult trial) {
  trial.state.parameters.clear();
  trial.state.moments = {};
  if (best < 0 || trial.state.best_loss < best_loss()) {
    if (best >= 0) finished[static_cast<size_t>(best)].state.best_parameters.clear();
    best = static_cast<int64_t>(finished.size());
  } else {
    trial.state.best_parameters.clear();
  }
  finished.push_back(std::move(trial));
}

Json TrialsToJson(const TrainingTrials& trials, const TrainState* running) {
  Json finished = Json::array();
  for (const TrainResult& trial : trials.finished) {
    finished.push_back({{"stopped_by", Name(trial.stopped_by)},
                        {"best_loss", JsonNumber(trial.state.best_loss)},
                        {"best_epoch", trial.state.best_epoch},
                        {"start_loss", JsonNumber(trial.state.start_loss)},
                        {"history", HistoryToJson(trial.state.history)},
                        {"best_parameters", trial.state.best_parameters}});
  }
  return {{"trials", finished},
          {"best", trials.best},
          {"running", running != nullptr ? TrainStateToJson(*running) : Json(nullptr)}};
}

TrainingTrials TrialsFromJson(const Json& json, int64_t num_parameters, const std::string& where) {
  JsonObject object(json, where);
  TrainingTrials trials;
  for (const Json& item : object.Array("trials")) {
    trials.finished.push_back(FinishedFromJson(item, where + ": trials"));
  }
  trials.best = object.Integer("best");
  const auto count = static_cast<int64_t>(trials.finished.size());
  const bool valid = trials.best < count && (trials.best >= 0 || count == 0);
  if (!valid || (trials.best >= 0 &&
                 static_cast<int64_t>(trials.finished[static_cast<size_t>(trials.best)]
                                          .state.best_parameters.size()) != num_parameters)) {
    Throw(ErrorCode::kBadData, "{}: no parameters of a best trial among {}", where, count);
  }
  if (object.Has("running")) {
    trials.running =
        TrainStateFromJson(object.Object("running"), num_parameters, where + ": running");
  }
  object.Finish();
  return trials;
}

}  // namespace segcal
