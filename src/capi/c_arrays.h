// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "segcal/c.h"
#include "segcal/dataset.h"
#include "segcal/views.h"

namespace segcal {

// Arrays as C gives them, as those of C++. An Error names the array that cannot be one.
Case MakeCase(std::span<const segcal_input> inputs);
ApplyOutputs MakeOutputs(std::span<const segcal_output> outputs);

}  // namespace segcal
