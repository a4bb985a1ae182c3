// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/evaluate.h"

namespace segcal {

// A case and a group of it, and back.
Json CaseMetricsToJson(const CaseMetrics& c);
CaseMetrics ReadCaseMetrics(const Json& json, const std::string& where);
Json GroupMetricsToJson(const GroupMetrics& group);
GroupMetrics ReadGroupMetrics(const Json& json, const std::string& where);

// The whole object of the metrics file, and back; `where` names it in messages.
Json EvaluateResultToJson(const EvaluateResult& result);
EvaluateResult ReadEvaluateResult(const Json& json, const std::string& where);

}  // namespace segcal
