// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "segcal/dataset.h"
#include "segcal/model.h"

namespace segcal {

// Throws unless the model was made for data like this: the same classes in the same order and the
// same kind of input.
void CheckCompatible(const Model& model, const Dataset& dataset);

}  // namespace segcal
