// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "optim/trainer.h"

namespace segcal {

// The trials of a training as far as they have come: what a checkpoint keeps of it.
struct TrainingTrials {
  std::vector<TrainResult> finished;
  int64_t best = -1;                  // of the finished; -1: none
  std::optional<TrainState> running;  // the next, if it has begun

  double best_loss() const;
  // Of trials that are not the best, only losses are needed again: the rest is dropped.
  void Finish(TrainResult trial);
};

// `running` in place of trials.running, which need not be copied.
Json TrialsToJson(const TrainingTrials& trials, const TrainState* running);
TrainingTrials TrialsFromJson(const Json& json, int64_t num_parameters, const std::string& where);

}  // namespace segcal
