// SPDX-License-Identifier: Apache-2.0
#include "report/region_table.h"

#include <algorithm>

#include "report/table_cells.h"

namespace segcal {

std::string RegionMetric(const TitledRow& error, const TitledRow& region) {
  return std::string(error.name) + "_" + region.name;
}

std::string RegionHeader(const std::string& metric) {
  for (const TitledRow& error : kRegionErrors) {
    for (const TitledRow& region : kRegionColumns) {
      if (metric == RegionMetric(error, region))
        return std::string(region.title) + " " + error.title;
    }
  }
  return {};
}

bool HasRegionTable(const EvaluateResult& result, const std::vector<std::string>& names) {
  const bool named = std::find(names.begin(), names.end(), "s2") != names.end();
  if (!named || result.pipelines.empty()) return false;
  for (const TitledRow& error : kRegionErrors) {
    for (const TitledRow& region : kRegionColumns) {
      if (FindMetric(result.pipelines.front().mean, RegionMetric(error, region)) == nullptr)
        return false;
    }
  }
  return true;
}

Table RegionTable(const EvaluateResult& result) {
  std::vector<TableColumn> headers = {{.header = "% ↓", .align = Align::kLeft},
                                      {.header = "pipeline", .align = Align::kLeft}};
  for (const TitledRow& region : kRegionColumns) headers.push_back({.header = region.title});
  Table table(headers);
  const std::vector<std::string> names = ShownPipelines(result);
  for (const TitledRow& error : kRegionErrors) {
    std::vector<std::vector<TableCell>> rows;
    for (size_t p = 0; p < names.size(); ++p) {
      rows.push_back({p == 0 ? error.title : "", names[p]});
      for (const TitledRow& region : kRegionColumns) {
        const double value = FindValue(result.pipelines[p].mean, RegionMetric(error, region));
        rows.back().push_back(NumberCell(100.0 * value, 2));
      }
    }
    if (rows.size() > 1) BoldBestOfColumns(2, Better::kLower, &rows);
    table.AddRule();
    for (std::vector<TableCell>& row : rows) table.AddRow(std::move(row));
  }
  return table;
}

}  // namespace segcal
