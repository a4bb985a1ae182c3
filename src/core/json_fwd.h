// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace segcal {

// For headers that only name the type: the full one takes seconds to compile.
using Json = nlohmann::ordered_json;

}  // namespace segcal
