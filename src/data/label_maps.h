// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json_fwd.h"

namespace segcal {

// A label map by name: "cityscapes" (labelIds to the 19 trainIds, the rest ignored) or "ade20k"
// (1..150 to 0..149, 0 ignored); otherwise a JSON file {"7": 0, ...}. Ignored values go to 255.
std::map<int64_t, int64_t> LoadLabelMap(const std::string& name_or_path);

// {"7": 0, ...} as a map; `where` names the file in messages.
std::map<int64_t, int64_t> ParseLabelMap(const Json& json, const std::string& where);

}  // namespace segcal
