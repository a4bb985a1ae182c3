// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/statistics.h"

namespace segcal {

// The object "statistics" of the metrics file, and back; `where` names it in messages.
Json StatisticsToJson(const Statistics& statistics);
Statistics ReadStatistics(const Json& json, const std::string& where);

}  // namespace segcal
