// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "segcal/apply.h"

namespace segcal::cli {

// Prints what was applied: what a person should know to standard error, the rest, or all as JSON,
// to standard output.
void PrintApplied(const ApplyResult& result, const std::string& folder, bool json);

}  // namespace segcal::cli
