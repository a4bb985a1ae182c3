// SPDX-License-Identifier: Apache-2.0
#include "report/table_cells.h"

#include <cmath>

namespace segcal {

void BoldBestCells(const std::vector<TableCell*>& cells, Better better) {
  const TableCell* best = nullptr;
  for (const TableCell* cell : cells) {
    if (!cell->is_number || std::isnan(cell->value) || better == Better::kNeither) continue;
    const bool wins = best == nullptr || (better == Better::kLower ? cell->value < best->value
                                                                   : cell->value > best->value);
    if (wins) best = cell;
  }
  for (TableCell* cell : cells)
    cell->bold = best != nullptr && cell->is_number && cell->text == best->text;
}

void BoldBestOfColumns(size_t first, Better better, std::vector<std::vector<TableCell>>* rows) {
  for (size_t i = first; !rows->empty() && i < rows->front().size(); ++i) {
    std::vector<TableCell*> column;
    for (std::vector<TableCell>& row : *rows) column.push_back(&row[i]);
    BoldBestCells(column, better);
  }
}

}  // namespace segcal
