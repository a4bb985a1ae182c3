// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/throw.h"
#include "metrics/metric.h"
#include "pipeline/metric_sets.h"
#include "pipeline/spec.h"
#include "report/metric_columns.h"
#include "report/region_table.h"
#include "report/text.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

// How known metrics are shown; others by their name, with four decimals.
struct KnownMetric {
  const char* metric;
  const char* header;
  int decimals;
  double factor;
  bool by_default;
};

// First the columns of the main paper's Table 4 with what is close to them; percentages as there.
constexpr KnownMetric kKnown[] = {
    {"nll", "NLL", 4, 1.0, true},
    {"brier", "Brier", 4, 1.0, true},
    {"ece", "ECE", 4, 1.0, true},
    {"classwise_ece", "cwECE", 4, 1.0, true},
    {"ba_ece", "BA-ECE", 4, 1.0, true},
    {"ace", "ACE", 4, 1.0, true},
    {"accuracy", "Acc %", 2, 100.0, true},
    {"dsc", "DSC %", 2, 100.0, true},
    {"miou", "mIoU %", 2, 100.0, true},
    {"flip_rate", "Flip %", 3, 1.0, true},
    {"mce", "MCE", 4, 1.0, false},
    {"ks_ce", "KS", 4, 1.0, false},
    {"sce", "SCE", 4, 1.0, false},
    {"tace", "TACE", 4, 1.0, false},
    {"auroc", "AUROC", 4, 1.0, false},
    {"aurc", "AURC", 4, 1.0, false},
    {"asd", "ASD", 2, 1.0, false},
    {"hd", "HD", 2, 1.0, false},
    {"hd95", "HD95", 2, 1.0, false},
    {"nsd", "NSD %", 2, 100.0, false},
    {"flips_harmful", "harmful %", 3, 1.0, false},
    {"flips_beneficial", "beneficial %", 3, 1.0, false},
    {"flips_neutral", "neutral %", 3, 1.0, false},
};

MetricColumn MakeColumn(const std::string& metric) {
  for (const KnownMetric& known : kKnown) {
    if (metric == known.metric) return {metric, known.header, known.decimals, known.factor};
  }
  const std::string region = RegionHeader(metric);
  return {.metric = metric, .header = region.empty() ? metric : region};
}

// What a name of EvaluateOptions::families stands for in a table.
std::vector<std::string> MetricsMeant(const std::string& name) {
  if (const MetricSet* set = FindMetricSet(name)) return set->metrics;
  for (const MetricInfo* info : Metrics()) {
    if (name != info->name) continue;
    std::vector<std::string> metrics;
    metrics.reserve(info->numbers.size());
    for (const MetricNumber& number : info->numbers) metrics.emplace_back(number.name);
    return metrics;
  }
  if (FindNumber(name) != nullptr) return {name};
  std::vector<std::string> usual;
  for (const KnownMetric& known : kKnown) {
    if (known.by_default) usual.emplace_back(known.metric);
  }
  return usual;
}

bool IsComputed(const EvaluateResult& result, const std::string& name) {
  return !result.pipelines.empty() && FindMetric(result.pipelines.front().mean, name) != nullptr;
}

std::string Shown(double value, const MetricColumn& column) {
  return FormatNumber(value * column.factor, column.decimals);
}

std::string Bounds(const MetricInterval& interval, const MetricColumn& column) {
  if (std::isnan(interval.lower)) return "–";
  return fmt::format("[{}, {}]", Shown(interval.lower, column), Shown(interval.upper, column));
}

// Statistics of another choice of metrics may lack one.
MetricInterval FindInterval(const PipelineStatistics& pipeline, const std::string& metric) {
  for (const MetricInterval& interval : pipeline.intervals) {
    if (interval.metric == metric) return interval;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.metric = metric, .estimate = kNone, .lower = kNone, .upper = kNone};
}

const Statistics& GetStatistics(const EvaluateResult& result) {
  if (!result.statistics || result.statistics->pipelines.size() != result.pipelines.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "the result has no statistics of its pipelines, and this table shows them");
  }
  return *result.statistics;
}

const MetricComparison* FindComparison(const std::vector<MetricComparison>& comparisons,
                                       const std::string& metric) {
  for (const MetricComparison& comparison : comparisons) {
    if (comparison.difference.metric == metric) return &comparison;
  }
  return nullptr;
}

// Small ones by their bound: more digits would promise what a normal tail does not hold.
std::string ShownP(double p) {
  constexpr double kSmallest = 1e-4;
  return p < kSmallest ? "<0.0001" : FormatNumber(p, 4);
}

constexpr const char* kEqualByConstruction = "equal by construction";

TableCell MakeCell(double value, const MetricColumn& column) {
  return {Shown(value, column), value * column.factor};
}

std::vector<TableCell> ComparisonCells(const MetricComparison* comparison,
                                       bool is_reference,
                                       const MetricColumn& column) {
  if (comparison == nullptr) return {is_reference ? "reference" : "", "", "", ""};
  TableCell difference = MakeCell(comparison->difference.estimate, column);
  if (comparison->equal_by_construction)
    return {std::move(difference), kEqualByConstruction, "", ""};
  TableCell bounds = Bounds(comparison->difference, column);
  bounds.note = ExcludesZero(comparison->difference) ? " *" : "  ";
  return {std::move(difference),
          std::move(bounds),
          {ShownP(comparison->p), comparison->p},
          {ShownP(comparison->p_adjusted), comparison->p_adjusted}};
}

TableCell PairCell(const MetricComparison* comparison, const MetricColumn& column) {
  if (comparison == nullptr) return "";
  if (comparison->equal_by_construction) return "=";
  TableCell cell = MakeCell(comparison->difference.estimate, column);
  cell.note = " " + Bounds(comparison->difference, column) +
              (ExcludesZero(comparison->difference) ? " *" : "  ");
  return cell;
}

}  // namespace

Better FindDirection(const std::string& metric) {
  const MetricNumber* number = FindNumber(metric);
  if (number != nullptr && number->goal == Goal::kLow) return Better::kLower;
  if (number != nullptr && number->goal == Goal::kHigh) return Better::kHigher;
  return Better::kNeither;
}

std::string MetricTitle(const MetricColumn& column) {
  switch (FindDirection(column.metric)) {
    case Better::kLower:
      return column.header + " ↓";
    case Better::kHigher:
      return column.header + " ↑";
    case Better::kNeither:
      break;
  }
  return column.header;
}

std::vector<std::string> ShownPipelines(const EvaluateResult& result) {
  std::vector<std::string> names;
  names.reserve(result.pipelines.size());
  for (const PipelineMetrics& pipeline : result.pipelines)
    names.push_back(ShortPipeline(pipeline.pipeline));
  std::vector<std::string> shown;
  for (size_t p = 0; p < names.size(); ++p) {
    const bool unique = std::count(names.begin(), names.end(), names[p]) == 1;
    shown.push_back(unique ? names[p] : result.pipelines[p].pipeline);
  }
  return shown;
}

std::vector<MetricColumn> MetricColumns(const EvaluateResult& result,
                                        const std::vector<std::string>& names) {
  std::vector<std::string> metrics;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"all"} : names) {
    for (const std::string& metric : MetricsMeant(name)) {
      const bool known = std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
      if (!known && IsComputed(result, metric)) metrics.push_back(metric);
    }
  }
  std::vector<MetricColumn> columns;
  columns.reserve(metrics.size());
  for (const std::string& metric : metrics) columns.push_back(MakeColumn(metric));
  return columns;
}

Table MetricsTable(const EvaluateResult& result,
                   const std::vector<MetricColumn>& columns,
                   bool intervals) {
  std::vector<TableColumn> headers = {{.header = "pipeline", .align = Align::kLeft}};
  headers.reserve(columns.size() + 1);
  for (const MetricColumn& column : columns) {
    headers.push_back(
        {.header = column.header, .align = Align::kRight, .better = FindDirection(column.metric)});
  }
  Table table(headers);
  const std::vector<std::string> names = ShownPipelines(result);
  for (size_t p = 0; p < result.pipelines.size(); ++p) {
    std::vector<TableCell> row = {names[p]};
    for (const MetricColumn& column : columns) {
      const double value = FindValue(result.pipelines[p].mean, column.metric);
      TableCell cell = MakeCell(value, column);
      if (intervals && result.statistics) {
        const PipelineStatistics& statistics = GetStatistics(result).pipelines[p];
        cell.note = " " + Bounds(FindInterval(statistics, column.metric), column);
      }
      row.push_back(std::move(cell));
    }
    table.AddRow(std::move(row));
  }
  if (result.pipelines.size() > 1) table.BoldBest();
  return table;
}

Table StatisticsTable(const EvaluateResult& result, const std::vector<MetricColumn>& columns) {
  const Statistics& statistics = GetStatistics(result);
  const bool compares = statistics.pipelines.size() > 1;
  const std::string interval = fmt::format("{:.3g} % interval", 100.0 * statistics.options.level);
  std::vector<TableColumn> headers = {{.header = "metric", .align = Align::kLeft},
                                      {.header = "pipeline", .align = Align::kLeft},
                                      {.header = "value"},
                                      {.header = interval}};
  for (const std::string& header : {std::string("difference"), interval, std::string("p")})
    if (compares) headers.push_back({.header = header});
  if (compares) headers.push_back({.header = "adjusted p"});
  Table table(headers);
  const std::vector<std::string> names = ShownPipelines(result);
  for (const MetricColumn& column : columns) {
    table.AddRule();
    for (size_t p = 0; p < names.size(); ++p) {
      const PipelineStatistics& pipeline = statistics.pipelines[p];
      const MetricInterval& value = FindInterval(pipeline, column.metric);
      std::vector<TableCell> row = {p == 0 ? MetricTitle(column) : "",
                                    names[p],
                                    MakeCell(value.estimate, column),
                                    Bounds(value, column)};
      if (compares) {
        const auto cells = ComparisonCells(FindComparison(pipeline.comparisons, column.metric),
                                           pipeline.pipeline == statistics.options.reference,
                                           column);
        row.insert(row.end(), cells.begin(), cells.end());
      }
      table.AddRow(std::move(row));
    }
  }
  return table;
}

Table PairTable(const Statistics& statistics, const std::vector<MetricColumn>& columns) {
  std::vector<TableColumn> headers = {{.header = "family", .align = Align::kLeft},
                                      {.header = "pair", .align = Align::kLeft}};
  headers.reserve(columns.size() + 2);
  for (const MetricColumn& column : columns) headers.push_back({.header = MetricTitle(column)});
  Table table(headers);
  const std::string* family = nullptr;
  for (const PairStatistics& pair : statistics.pairs) {
    const bool same = family != nullptr && *family == pair.pair.family;
    if (!same) table.AddRule();
    family = &pair.pair.family;
    std::vector<TableCell> row = {
        same ? "" : *family,
        ShortPipeline(pair.pair.first) + " → " + ShortPipeline(pair.pair.second)};
    for (const MetricColumn& column : columns)
      row.push_back(PairCell(FindComparison(pair.comparisons, column.metric), column));
    table.AddRow(std::move(row));
  }
  return table;
}

bool HasPatchSweep(const EvaluateResult& result) {
  return !result.pipelines.empty() &&
         FindDiagram(result.pipelines.front().diagrams, DiagramKind::kPatchSweep) != nullptr;
}

Table PatchTable(const EvaluateResult& result) {
  Table table({{.header = "pipeline", .align = Align::kLeft},
               {.header = "patch"},
               {.header = "ECE avg", .align = Align::kRight, .better = Better::kLower},
               {.header = "ECE max", .align = Align::kRight, .better = Better::kLower},
               {.header = "MCE avg", .align = Align::kRight, .better = Better::kLower},
               {.header = "MCE max", .align = Align::kRight, .better = Better::kLower}});
  const std::vector<std::string> names = ShownPipelines(result);
  for (size_t p = 0; p < names.size(); ++p) {
    table.AddRule();
    const Diagram* sweep = FindDiagram(result.pipelines[p].diagrams, DiagramKind::kPatchSweep);
    if (sweep == nullptr) continue;
    for (const std::vector<double>& row : sweep->rows) {
      std::vector<TableCell> cells = {names[p], NumberCell(row[0], 0)};
      for (size_t k = 1; k < row.size(); ++k) cells.push_back(NumberCell(row[k], 4));
      table.AddRow(std::move(cells));
    }
  }
  return table;
}

Table RankTable(const EvaluateResult& result) {
  Table table({{.header = "pipeline", .align = Align::kLeft},
               {.header = "sum-rank", .align = Align::kRight, .better = Better::kLower},
               {.header = "mean-case-rank", .align = Align::kRight, .better = Better::kLower}});
  const std::vector<std::string> names = ShownPipelines(result);
  for (size_t p = 0; p < names.size(); ++p) {
    const PipelineStatistics& pipeline = GetStatistics(result).pipelines[p];
    table.AddRow(
        {names[p], NumberCell(pipeline.sum_rank, 1), NumberCell(pipeline.mean_case_rank, 3)});
  }
  table.BoldBest();
  return table;
}

std::vector<MetricColumn> MainColumns(const EvaluateResult& result,
                                      const std::vector<std::string>& names) {
  std::vector<MetricColumn> kept = MetricColumns(result, names);
  if (!HasRegionTable(result, names)) return kept;
  std::erase_if(kept, [](const MetricColumn& c) { return !RegionHeader(c.metric).empty(); });
  return kept;
}

std::vector<Table> EvaluationTables(const EvaluateResult& result,
                                    const std::vector<std::string>& names,
                                    bool per_class) {
  const std::vector<MetricColumn> columns = MetricColumns(result, names);
  const std::vector<MetricColumn> main = MainColumns(result, names);
  std::vector<Table> tables;
  if (!main.empty()) tables.push_back(MetricsTable(result, main, /*intervals=*/true));
  if (HasRegionTable(result, names)) tables.push_back(RegionTable(result));
  if (HasPatchSweep(result)) tables.push_back(PatchTable(result));
  if (per_class && HasClassTable(result, columns)) tables.push_back(ClassTable(result, columns));
  if (result.statistics && result.pipelines.size() > 1) {
    tables.push_back(StatisticsTable(result, columns));
    if (!result.statistics->ranked.empty()) tables.push_back(RankTable(result));
  }
  return tables;
}

}  // namespace segcal
