// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "core/json_fwd.h"

namespace segcal::train {

// A file of numbers: one line that says what it is, one line of JSON, then the vectors as 32-bit
// floats. It is replaced whole, so that it can always be read, also after a kill or on a full disk.
void SaveState(const std::string& path, const Json& header, const std::vector<at::Tensor>& vectors);

// The JSON; fills the vectors, whose sizes must be those of the file.
Json LoadState(const std::string& path, const std::vector<at::Tensor>& vectors);

}  // namespace segcal::train
