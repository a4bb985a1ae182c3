// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluation_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/print_evaluation.h"
#include "cli/throw.h"
#include "segcal/methods.h"
#include "segcal/tables.h"

namespace segcal::cli {
namespace {

void AddStatisticsOptions(CLI::App& app, EvaluationOutput* out, std::vector<CLI::Option*>* added) {
  StatisticsOptions& statistics = out->statistics_options;
  added->push_back(
      app.add_flag("--statistics",
                   out->statistics,
                   "Bootstrap intervals; for several pipelines differences from the reference, "
                   "rank tests and ranks"));
  added->push_back(
      app.add_option("--reference",
                     statistics.reference,
                     "Pipeline to compare the others with, for --statistics (default: the first)"));
  app.add_option_function<std::string>(
         "--test",
         [&statistics](const std::string& name) { statistics.test = ParseRankTest(name); },
         "Rank test of --statistics: wilcoxon, of the differences of cases, or mann_whitney, of "
         "unpaired values")
      ->check(CLI::IsMember({"wilcoxon", "mann_whitney"}))
      ->default_str("wilcoxon");
  app.add_option("--replicates", statistics.replicates, "Of the bootstrap")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--level", statistics.level, "Of the intervals")
      ->check(CLI::Range(0.5, 0.9999))
      ->capture_default_str();
  AddSeed(app, &statistics.seed, "Of the bootstrap");
}

}  // namespace

std::vector<CLI::Option*> AddEvaluationOutput(CLI::App& app, EvaluationOutput* out) {
  std::vector<CLI::Option*> added = {
      app.add_option(
          "-o,--output", out->output, "Metrics file to write (JSON, with a row per case)"),
      app.add_option("--csv", out->csv, "Table to write: a row per case, group and aggregate"),
      app.add_option("--cells",
                     out->cells,
                     "Table to write: per-case sums by fine ranges of confidence, for other bins"),
      app.add_option("--sort", out->sort, "Metric whose best pipeline comes first in the tables"),
      app.add_flag("--per-class", out->per_class, "Print a table of classes too"),
      app.add_flag("--json", out->json, "Print the metrics as JSON")};
  app.add_option("--table", out->table, "Form of the printed tables")
      ->check(CLI::IsMember({"text", "markdown", "latex", "csv"}))
      ->capture_default_str();
  AddForce(app, &out->force);
  AddStatisticsOptions(app, out, &added);
  return added;
}

void CheckTables(const EvaluationOutput& out, OutputCheck* check) {
  if (!out.output.empty()) check->Writes(out.output, FileKind::kMetrics);
  if (!out.csv.empty()) check->Writes(out.csv, FileKind::kTable);
  if (!out.cells.empty()) check->Writes(out.cells, FileKind::kTable);
}

// It must have a best value, too.
void CheckSort(const std::string& metric, const EvaluateOptions& options) {
  if (metric.empty()) return;
  const std::vector<std::string> computed = SelectedFamilies(options);
  std::vector<std::string> known;
  for (const MetricFamilyDescription& family : ListMetrics()) {
    if (std::find(computed.begin(), computed.end(), family.name) == computed.end()) continue;
    for (const MetricDescription& number : family.metrics) {
      if (number.goal == Goal::kNone) continue;
      if (number.name == metric) return;
      known.push_back(number.name);
    }
  }
  Throw(ErrorCode::kInvalidArgument,
        "--sort {}: one of the metrics that are computed and have a best value is required: {}",
        metric,
        fmt::join(known, ", "));
}

void AddStatistics(const EvaluationOutput& out,
                   const std::vector<std::string>& families,
                   const RunOptions& run,
                   EvaluateResult* result) {
  if (!out.statistics && out.statistics_options.reference.empty()) return;
  StatisticsOptions options = out.statistics_options;
  options.threads = run.threads;
  for (const MetricColumn& column : MetricColumns(*result, families))
    options.metrics.push_back(column.metric);
  result->statistics = ComputeStatistics({result, 1}, options, run.progress);
}

void ReportEvaluation(const EvaluateResult& result) {
  ReportSkipped(result.skipped);
  ReportRenormalised(result.renormalised);
  for (const std::string& warning : result.warnings) Warn(warning);
}

std::vector<std::string> WriteTables(const EvaluationOutput& out, const EvaluateResult& result) {
  NewFolders folders;
  std::vector<std::string> files;
  const auto write = [&](const std::string& path, std::string (*text)(const EvaluateResult&)) {
    if (path.empty()) return;
    folders.MakeParent(path);
    WriteText(path, text(result));
    files.push_back(path);
  };
  write(out.output, &ToJson);
  write(out.csv, &ToCsv);
  write(out.cells, &CellsCsv);
  return files;
}

void ShowEvaluation(const EvaluationOutput& out,
                    const EvaluateResult& result,
                    const std::vector<std::string>& families,
                    const std::vector<std::string>& files) {
  if (out.json) {
    fmt::print("{}", ToJson(result));
    return;
  }
  const PrintOptions print{.form = ParseTableForm(out.table), .per_class = out.per_class};
  PrintEvaluation(out.sort.empty() ? result : SortedBy(result, out.sort), families, print, files);
}

}  // namespace segcal::cli
