// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "segcal/inspect.h"

namespace segcal::cli {

// Prints what is in a data set to standard output.
void PrintDataset(const DatasetSummary& summary);

}  // namespace segcal::cli
