// SPDX-License-Identifier: Apache-2.0
#include "report/region_table.h"

#include <algorithm>
#include <array>

#include "report/table_cells.h"

namespace segcal {
namespace {

struct Titled {
  const char* name;
  const char* title;
};
// The rows and columns of Table 1 of Ding21.
constexpr std::array<Titled, 4> kErrors = {
    {{"ece", "ECE"}, {"mce", "MCE"}, {"sce", "SCE"}, {"adaptive", "ACE"}}};
constexpr std::array<Titled, 4> kRegionColumns = {{{"all", "All"},
                                                   {"boundary", "Boundary"},
                                                   {"local_avg", "Local-Avg"},
                                                   {"local_max", "Local-Max"}}};

std::string RegionMetric(const Titled& error, const Titled& region) {
  return std::string(error.name) + "_" + region.name;
}

}  // namespace

std::string RegionHeader(const std::string& metric) {
  for (const Titled& error : kErrors) {
    for (const Titled& region : kRegionColumns) {
      if (metric == RegionMetric(error, region))
        return std::string(region.title) + " " + error.title;
    }
  }
  return {};
}

bool HasRegionTable(const EvaluateResult& result, const std::vector<std::string>& names) {
  const bool named = std::find(names.begin(), names.end(), "s2") != names.end();
  if (!named || result.pipelines.empty()) return false;
  for (const Titled& error : kErrors) {
    for (const Titled& region : kRegionColumns) {
      if (FindMetric(result.pipelines.front().mean, RegionMetric(error, region)) == nullptr)
        return false;
    }
  }
  return true;
}

Table RegionTable(const EvaluateResult& result) {
  std::vector<TableColumn> headers = {{.header = "% ↓", .align = Align::kLeft},
                                      {.header = "pipeline", .align = Align::kLeft}};
  for (const Titled& region : kRegionColumns) headers.push_back({.header = region.title});
  Table table(headers);
  const std::vector<std::string> names = ShownPipelines(result);
  for (const Titled& error : kErrors) {
    std::vector<std::vector<TableCell>> rows;
    for (size_t p = 0; p < names.size(); ++p) {
      rows.push_back({p == 0 ? error.title : "", names[p]});
      for (const Titled& region : kRegionColumns) {
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
