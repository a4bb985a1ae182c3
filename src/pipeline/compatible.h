// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "methods/shared/calibrator.h"
#include "segcal/dataset.h"
#include "segcal/model.h"

namespace segcal {

// Throws unless every case has what a calibrator declares to need.
void CheckNeeds(const Needs& needs, const Dataset& dataset);

// What messages call a data set that is not a file.
std::string DatasetTitle(const Dataset& dataset);

// Throws unless the data set is sound and the model was made for data like this: the same classes
// in the same order and the same kind of input; and unless the data have what it needs.
void CheckCompatible(const Model& model, const Dataset& dataset);

}  // namespace segcal
