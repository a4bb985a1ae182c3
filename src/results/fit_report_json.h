// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/fit_report.h"

namespace segcal {

// The object "fit" of a model file, and back; `where` names it in messages.
Json FitReportToJson(const FitReport& report);
FitReport ReadFitReport(const Json& json, const std::string& where);

}  // namespace segcal
