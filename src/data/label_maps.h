// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json_fwd.h"

namespace segcal {

// {"7": 0, ...} as a map; `where` names the file in messages.
std::map<int64_t, int64_t> ParseLabelMap(const Json& json, const std::string& where);

}  // namespace segcal
