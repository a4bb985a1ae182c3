// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "report/metric_columns.h"
#include "report/table_cells.h"
#include "report/text.h"

namespace segcal {
namespace {

// Labelled voxels of a class; NaN where no confusion matrix was computed.
double ClassVoxels(const EvaluateResult& result, size_t class_index) {
  const Diagram* confusion =
      FindDiagram(result.pipelines.front().diagrams, DiagramKind::kConfusion);
  if (confusion == nullptr) return std::nan("");
  double sum = 0.0;
  for (const double count : confusion->rows[class_index]) sum += count;
  return sum;
}

TableCell CountCell(double count) {
  if (std::isnan(count)) return NumberCell(count, 0);
  return {FormatCount(static_cast<int64_t>(count)), count};
}

// Those of the columns that have values of classes.
std::vector<MetricColumn> ClassColumns(const EvaluateResult& result,
                                       const std::vector<MetricColumn>& columns) {
  std::vector<MetricColumn> kept;
  for (const MetricColumn& column : columns) {
    const MetricValue* found = FindMetric(result.pipelines.front().mean, column.metric);
    if (found != nullptr && !found->per_class.empty()) kept.push_back(column);
  }
  return kept;
}

std::vector<TableCell> ClassRow(const EvaluateResult& result,
                                const MetricColumn& column,
                                size_t class_index) {
  std::vector<TableCell> row = {class_index == 0 ? MetricTitle(column) : "",
                                result.classes[class_index],
                                CountCell(ClassVoxels(result, class_index))};
  std::vector<TableCell> values;
  for (const PipelineMetrics& pipeline : result.pipelines) {
    const double value = FindValue(pipeline.mean, column.metric, static_cast<int64_t>(class_index));
    values.push_back(NumberCell(value * column.factor, column.decimals));
  }
  std::vector<TableCell*> compared;
  for (TableCell& cell : values) compared.push_back(&cell);
  if (values.size() > 1) BoldBestCells(compared, FindDirection(column.metric));
  row.insert(row.end(), values.begin(), values.end());
  return row;
}

}  // namespace

bool HasClassTable(const EvaluateResult& result, const std::vector<MetricColumn>& columns) {
  return !result.pipelines.empty() && !ClassColumns(result, columns).empty();
}

Table ClassTable(const EvaluateResult& result, const std::vector<MetricColumn>& columns) {
  std::vector<TableColumn> headers = {{.header = "metric", .align = Align::kLeft},
                                      {.header = "class", .align = Align::kLeft},
                                      {.header = "voxels"}};
  for (const std::string& name : ShownPipelines(result)) headers.push_back({.header = name});
  Table table(headers);
  if (result.pipelines.empty()) return table;
  for (const MetricColumn& column : ClassColumns(result, columns)) {
    table.AddRule();
    for (size_t c = 0; c < result.classes.size(); ++c) table.AddRow(ClassRow(result, column, c));
  }
  return table;
}

}  // namespace segcal
