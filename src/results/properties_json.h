// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"
#include "segcal/properties.h"

namespace segcal {

// The object "properties" of a file, and back; `where` names it in messages.
Json PropertiesToJson(const Properties& properties);
Properties ReadProperties(const Json& json, const std::string& where);

}  // namespace segcal
