// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measures/cells.h"
#include "segcal/metric_values.h"

namespace segcal {

// The bins of a rule, as rows of a diagram.
std::vector<ReliabilityRow> MakeReliabilityRows(const BinRule& rule, const std::vector<Bin>& bins);

// The groups of `sums` are (band, class), classes running fastest.
std::vector<CellRow> MakeCellRows(const std::string& kind,
                                  const CellSums& sums,
                                  int64_t num_classes);

}  // namespace segcal
