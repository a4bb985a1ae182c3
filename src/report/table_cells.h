// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "segcal/tables.h"

namespace segcal {

// Makes the best of some numbers bold; those that print like it are equally good.
void BoldBestCells(const std::vector<TableCell*>& cells, Better better);

// The same for every column from `first` on of rows that are compared with each other.
void BoldBestOfColumns(size_t first, Better better, std::vector<std::vector<TableCell>>* rows);

}  // namespace segcal
