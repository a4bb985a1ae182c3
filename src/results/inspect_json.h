// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/inspect.h"

namespace segcal {

// A case of it, and back.
Json CaseSummaryToJson(const CaseSummary& c);
CaseSummary ReadCaseSummary(const Json& json, const std::string& where);

// The whole object of the inspection, and back; `where` names it in messages.
Json DatasetSummaryToJson(const DatasetSummary& result);
DatasetSummary ReadDatasetSummary(const Json& json, const std::string& where);

}  // namespace segcal
