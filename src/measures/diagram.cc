// SPDX-License-Identifier: Apache-2.0
#include "measures/diagram.h"

#include <limits>

#include "core/names.h"
#include "core/throw.h"

namespace segcal {
namespace {

constexpr NameList<4> kKindNames = {"reliability", "confusion", "risk_coverage", "patch_sweep"};

std::vector<DiagramColumn> ListColumns(DiagramKind kind, int64_t num_classes) {
  switch (kind) {
    case DiagramKind::kReliability:
      return {{"lower"}, {"upper"}, {"count", true}, {"correct", true}, {"confidence_sum"}};
    case DiagramKind::kRiskCoverage:
      return {{"coverage"}, {"risk"}, {"confidence"}};
    case DiagramKind::kPatchSweep:
      return {{"patch", true},
              {"ece_local_avg"},
              {"ece_local_max"},
              {"mce_local_avg"},
              {"mce_local_max"}};
    case DiagramKind::kConfusion:
      break;
  }
  std::vector<DiagramColumn> classes;
  for (int64_t c = 0; c < num_classes; ++c) classes.push_back({std::to_string(c), true});
  return classes;
}

}  // namespace

const MetricValue* FindMetric(const std::vector<MetricValue>& metrics,
                              const std::string& name) noexcept {
  for (const MetricValue& metric : metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

double FindValue(const std::vector<MetricValue>& metrics, const std::string& name) noexcept {
  const MetricValue* metric = FindMetric(metrics, name);
  return metric == nullptr ? std::numeric_limits<double>::quiet_NaN() : metric->value;
}

double FindValue(const std::vector<MetricValue>& metrics,
                 const std::string& name,
                 int64_t class_index) noexcept {
  const MetricValue* metric = FindMetric(metrics, name);
  const auto c = static_cast<size_t>(class_index);
  return metric == nullptr || c >= metric->per_class.size()
             ? std::numeric_limits<double>::quiet_NaN()
             : metric->per_class[c];
}

const char* Name(DiagramKind kind) noexcept { return FindName(kind, kKindNames); }

const Diagram* FindDiagram(const std::vector<Diagram>& diagrams,
                           DiagramKind kind,
                           const std::string& about,
                           int64_t class_index) noexcept {
  for (const Diagram& diagram : diagrams) {
    if (diagram.kind == kind && diagram.class_index == class_index &&
        (about.empty() || diagram.about == about))
      return &diagram;
  }
  return nullptr;
}

Diagram EmptyDiagram(DiagramKind kind, int64_t num_classes) {
  return {.kind = kind, .columns = ListColumns(kind, num_classes)};
}

Diagram MakeReliabilityDiagram(const std::string& about,
                               int64_t class_index,
                               const BinRule& rule,
                               const std::vector<Bin>& bins) {
  const std::vector<double> edges = DiagramEdges(rule);
  Diagram diagram = EmptyDiagram(DiagramKind::kReliability);
  diagram.about = about;
  diagram.class_index = class_index;
  for (size_t k = 0; k < bins.size(); ++k) {
    diagram.rows.push_back({edges[k],
                            edges[k + 1],
                            static_cast<double>(bins[k].count),
                            static_cast<double>(bins[k].correct),
                            bins[k].confidence.value()});
  }
  return diagram;
}

std::vector<ReliabilityRow> ReliabilityRows(const Diagram& diagram) {
  if (diagram.kind != DiagramKind::kReliability)
    Throw(ErrorCode::kInvalidArgument,
          "a diagram of kind {}, one of kind reliability is required",
          Name(diagram.kind));
  std::vector<ReliabilityRow> rows;
  rows.reserve(diagram.rows.size());
  for (const std::vector<double>& row : diagram.rows) {
    rows.push_back({.lower = row.at(0),
                    .upper = row.at(1),
                    .count = static_cast<int64_t>(row.at(2)),
                    .correct = static_cast<int64_t>(row.at(3)),
                    .confidence_sum = row.at(4)});
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
