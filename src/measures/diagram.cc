// SPDX-License-Identifier: Apache-2.0
#include "measures/diagram.h"

#include <limits>

namespace segcal {

std::vector<ReliabilityRow> MakeReliabilityRows(const BinRule& rule, const std::vector<Bin>& bins) {
  const std::vector<double> edges = DiagramEdges(rule);
  std::vector<ReliabilityRow> rows;
  for (size_t k = 0; k < bins.size(); ++k) {
    rows.push_back({.lower = edges[k],
                    .upper = edges[k + 1],
                    .count = bins[k].count,
                    .correct = bins[k].correct,
                    .confidence_sum = bins[k].confidence.value()});
  }
  return rows;
}

std::vector<CellRow> MakeCellRows(const std::string& kind,
                                  const CellSums& sums,
                                  int64_t num_classes) {
  std::vector<CellRow> totals;
  const CellGrid& grid = sums.grid();
  for (const Cell& cell : sums.Cells()) {
    const bool last = cell.cell + 1 == grid.num_cells();
    totals.push_back({.kind = kind,
                      .class_index = cell.group % num_classes,
                      .band = cell.group / num_classes,
                      .lower = static_cast<double>(grid.lower(cell.cell)),
                      .upper = last ? std::numeric_limits<double>::infinity()
                                    : static_cast<double>(grid.lower(cell.cell + 1)),
                      .count = cell.sums.count,
                      .correct = cell.sums.correct,
                      .confidence_sum = cell.sums.confidence.value()});
  }
  return totals;
}

}  // namespace segcal
