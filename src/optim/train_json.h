// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "optim/trainer.h"

namespace segcal {

class JsonObject;

// A training between two epochs as JSON, and back to the same bits.
Json TrainStateToJson(const TrainState& state);
// Of the given number of parameters, else an Error that starts with `where`.
TrainState TrainStateFromJson(const Json& json, int64_t num_parameters, const std::string& where);

// A loss as JsonNumber wrote it; one that is not a number stands for the worst.
double LossAt(JsonObject* object, const std::string& key);

Json HistoryToJson(const std::vector<TrainEpoch>& history);
std::vector<TrainEpoch> HistoryFromJson(const Json& json, const std::string& where);

}  // namespace segcal
