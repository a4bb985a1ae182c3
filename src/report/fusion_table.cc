// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "segcal/fuse.h"

namespace segcal {
namespace {

// How a metric of fusion is shown.
struct FusionColumn {
  const char* metric;
  const char* header;
  Better better;
  double factor;
  int decimals;
};

constexpr FusionColumn kFusionColumns[] = {
    {"asd", "ASD", Better::kLower, 1.0, 3},
    {"surface_dice", "SD %", Better::kHigher, 100.0, 2},
    {"md95", "95MD", Better::kLower, 1.0, 2},
    {"dsc", "DSC %", Better::kHigher, 100.0, 2},
    {"dsc_boundary", "DSC boundary %", Better::kHigher, 100.0, 2},
    {"accuracy", "accuracy %", Better::kHigher, 100.0, 2},
    {"change_rate", "changed %", Better::kNeither, 100.0, 2},
    {"wrong_to_right", "w→c %", Better::kNeither, 100.0, 2},
    {"right_to_wrong", "c→w %", Better::kNeither, 100.0, 2},
    {"change_rate_boundary", "changed, boundary %", Better::kNeither, 100.0, 2},
    {"wrong_to_right_boundary", "w→c, boundary %", Better::kNeither, 100.0, 2},
    {"right_to_wrong_boundary", "c→w, boundary %", Better::kNeither, 100.0, 2},
};

const MetricInterval* FindFusionInterval(const std::vector<MetricInterval>& intervals,
                                         const std::string& metric) {
  for (const MetricInterval& interval : intervals) {
    if (interval.metric == metric) return &interval;
  }
  return nullptr;
}

TableCell IntervalCell(const MetricInterval* interval, const FusionColumn& column, bool note) {
  if (interval == nullptr) return NumberCell(std::nan(""), column.decimals);
  TableCell cell = NumberCell(column.factor * interval->estimate, column.decimals);
  if (note && !std::isnan(interval->lower)) {
    cell.note = fmt::format(" [{:.{}f}, {:.{}f}]",
                            column.factor * interval->lower,
                            column.decimals,
                            column.factor * interval->upper,
                            column.decimals);
  }
  return cell;
}

std::vector<TableColumn> MakeColumns(size_t count) {
  std::vector<TableColumn> columns = {{.header = "fused with", .align = Align::kLeft}};
  for (size_t k = 0; k < count; ++k)
    columns.push_back({.header = kFusionColumns[k].header,
                       .align = Align::kRight,
                       .better = kFusionColumns[k].better});
  return columns;
}

// Metrics that say how good a segmentation is.
constexpr size_t kNumQualities = 6;

}  // namespace

Table FusionTable(const FuseResult& result, bool intervals) {
  Table table(MakeColumns(std::size(kFusionColumns)));
  for (const FusionRow& row : result.rows) {
    std::vector<TableCell> cells = {row.name};
    const bool reference = &row == &result.rows.front();
    for (size_t k = 0; k < std::size(kFusionColumns); ++k) {
      // Against itself nothing changes.
      const bool shown = !reference || k < kNumQualities;
      const MetricInterval* interval = FindFusionInterval(row.means, kFusionColumns[k].metric);
      cells.push_back(IntervalCell(shown ? interval : nullptr, kFusionColumns[k], intervals));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

Table FusionDifferences(const FuseResult& result) {
  Table table(MakeColumns(kNumQualities));
  for (const FusionRow& row : result.rows) {
    if (row.differences.empty()) continue;
    std::vector<TableCell> cells = {row.name};
    for (size_t k = 0; k < kNumQualities; ++k) {
      cells.push_back(IntervalCell(
          FindFusionInterval(row.differences, kFusionColumns[k].metric), kFusionColumns[k], true));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

}  // namespace segcal
