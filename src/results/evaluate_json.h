// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/evaluate.h"

namespace segcal {

// The whole object of the metrics file, and back; `where` names it in messages.
Json EvaluateResultToJson(const EvaluateResult& result);
EvaluateResult ReadEvaluateResult(const Json& json, const std::string& where);

}  // namespace segcal
