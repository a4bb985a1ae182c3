// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/json_fwd.h"

namespace segcal {

// The content of a data set file, to which the path that was given led. What people take for a data
// set and is none, a folder without one, an array, nnU-Net's dataset.json or a model, is an Error
// that says what to do.
Json ReadDatasetJson(const std::string& given, const std::string& file);

}  // namespace segcal
