// SPDX-License-Identifier: Apache-2.0
#include "cli/print_evaluation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/command.h"
#include "cli/streams.h"
#include "segcal/tables.h"

namespace segcal::cli {
namespace {

bool HasColumn(const std::vector<MetricColumn>& columns, const std::string& metric) {
  return std::any_of(columns.begin(), columns.end(), [&](const MetricColumn& column) {
    return column.metric == metric;
  });
}

bool ShowsColours() { return IsTerminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr; }

void PrintText(const Table& table) { fmt::print("{}", table.ToText(ShowsColours())); }

// "NLL, ECE": those that pipelines were ranked by.
std::string RankedBy(const Statistics& statistics, const std::vector<MetricColumn>& columns) {
  std::vector<std::string> headers;
  for (const MetricColumn& column : columns) {
    const auto& ranked = statistics.ranked;
    if (std::find(ranked.begin(), ranked.end(), column.metric) != ranked.end())
      headers.push_back(column.header);
  }
  return fmt::format("{}", fmt::join(headers, ", "));
}

// As the tables name it.
std::string ReferenceName(const EvaluateResult& result) {
  const std::vector<std::string> names = ShownPipelines(result);
  for (size_t p = 0; p < names.size(); ++p) {
    if (result.pipelines[p].pipeline == result.statistics->options.reference) return names[p];
  }
  return result.statistics->options.reference;
}

// Comparisons that have a p to adjust.
int64_t NumTests(const Statistics& statistics) {
  int64_t count = 0;
  for (const PipelineStatistics& pipeline : statistics.pipelines) {
    count += std::count_if(pipeline.comparisons.begin(),
                           pipeline.comparisons.end(),
                           [](const MetricComparison& c) { return !std::isnan(c.p); });
  }
  return count;
}

const char* TestTitle(RankTest test) {
  return test == RankTest::kWilcoxon ? "Wilcoxon signed-rank test of the differences"
                                     : "Mann-Whitney U, unpaired";
}

bool HasEqualByConstruction(const Statistics& statistics) {
  for (const PipelineStatistics& pipeline : statistics.pipelines) {
    for (const MetricComparison& comparison : pipeline.comparisons) {
      if (comparison.equal_by_construction) return true;
    }
  }
  return false;
}

void PrintStatistics(const EvaluateResult& result, const std::vector<MetricColumn>& columns) {
  const Statistics& statistics = *result.statistics;
  fmt::print("\n");
  PrintText(StatisticsTable(result, columns));
  fmt::print("Intervals: percentile bootstrap of {} {}s, {} replicates.\n",
             statistics.units,
             statistics.unit,
             statistics.options.replicates);
  if (statistics.pipelines.size() < 2) return;
  fmt::print(
      "Differences: pipeline less {}, paired by case; * where the interval excludes 0.\n"
      "p: {}; adjusted for {} test{} (Benjamini-Hochberg).\n",
      ReferenceName(result),
      TestTitle(statistics.options.test),
      NumTests(statistics),
      NumTests(statistics) == 1 ? "" : "s");
  if (HasEqualByConstruction(statistics)) {
    fmt::print(
        "Equal by construction: both pipelines keep the decision, so there is nothing to test.\n");
  }
  if (statistics.ranked.empty()) return;
  fmt::print("\n");
  PrintText(RankTable(result));
  fmt::print("Ranks by {}.\n", RankedBy(statistics, columns));
}

void PrintAsText(const EvaluateResult& result,
                 const std::vector<std::string>& metrics,
                 bool per_class,
                 const std::vector<std::string>& files) {
  fmt::print("{}{}: {} cases, {} voxels, {} labelled\n\n",
             result.dataset,
             result.split.empty() ? "" : ", split " + result.split,
             result.pipelines.front().cases.size(),
             HumanCount(result.voxels),
             HumanCount(result.labelled));
  const std::vector<MetricColumn> columns = MetricColumns(result, metrics);
  const std::vector<MetricColumn> main = MainColumns(result, metrics);
  if (!main.empty()) {
    PrintText(MetricsTable(result, main, /*intervals=*/false));
    fmt::print("Mean over cases{}.\n", HasColumn(main, "ace") ? "; ACE over all voxels" : "");
  }
  if (HasRegionTable(result, metrics)) {
    if (!main.empty()) fmt::print("\n");
    PrintText(RegionTable(result));
    fmt::print("Mean over cases.\n");
  }
  if (per_class && HasClassTable(result, columns)) {
    fmt::print("\n");
    PrintText(ClassTable(result, columns));
    fmt::print("Mean over cases in which the class has a value.\n");
  }
  if (HasPatchSweep(result)) {
    fmt::print("\n");
    PrintText(PatchTable(result));
  }
  if (result.statistics) PrintStatistics(result, columns);
  if (!files.empty()) fmt::print("\n");
  for (const std::string& file : files) fmt::print("wrote {}\n", file);
}

}  // namespace

TableForm ParseTableForm(const std::string& name) {
  if (name == "markdown") return TableForm::kMarkdown;
  if (name == "latex") return TableForm::kLatex;
  return name == "csv" ? TableForm::kCsv : TableForm::kText;
}

void PrintEvaluation(const EvaluateResult& result,
                     const std::vector<std::string>& metrics,
                     const PrintOptions& options,
                     const std::vector<std::string>& files) {
  if (options.form == TableForm::kText)
    return PrintAsText(result, metrics, options.per_class, files);
  const std::vector<Table> tables = EvaluationTables(result, metrics, options.per_class);
  for (size_t i = 0; i < tables.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "\n", tables[i].Render(options.form));
}

}  // namespace segcal::cli
