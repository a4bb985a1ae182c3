// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measures/cells.h"
#include "segcal/metric_values.h"

namespace segcal {

// A diagram of a kind, with its columns and without rows. The number of classes is that of the
// columns of a confusion matrix.
Diagram EmptyDiagram(DiagramKind kind, int64_t num_classes = 0);

// The bins of a rule as a diagram; class_index -1: of all classes.
Diagram MakeReliabilityDiagram(const std::string& about,
                               int64_t class_index,
                               const BinRule& rule,
                               const std::vector<Bin>& bins);

// The groups of `sums` are (band, class), classes running fastest.
std::vector<CellRow> MakeCellRows(const std::string& kind,
                                  const CellSums& sums,
                                  int64_t num_classes);

}  // namespace segcal
