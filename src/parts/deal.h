// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "segcal/dataset.h"
#include "segcal/parts.h"

namespace segcal {

// An Error if there is no such part.
void CheckPart(const Part& part);

// Tells data sets apart by what determines results: cases in their order with the names and sizes
// of their files, and how they are read. Folders differ between machines, so they do not count; nor
// do the values in the files.
uint64_t HashDataset(const Dataset& dataset);

}  // namespace segcal
