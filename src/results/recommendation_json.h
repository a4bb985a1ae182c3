// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/study.h"

namespace segcal {

// The object "recommendation" of study.json, and back; `where` names it in messages.
Json RecommendationToJson(const Recommendation& recommendation);
Recommendation ReadRecommendation(const Json& json, const std::string& where);

}  // namespace segcal
