// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace segcal {

// Commands of segcal_probe about training and search; see probe.cc.
nlohmann::json ProbeAdam(const nlohmann::json& in);
nlohmann::json ProbePlateau(const nlohmann::json& in);
nlohmann::json ProbeSearchAsk(const nlohmann::json& in);
nlohmann::json ProbeSearchRun(const nlohmann::json& in);
nlohmann::json ProbeSelector(const nlohmann::json& in);

}  // namespace segcal
