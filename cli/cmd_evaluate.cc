// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "core/file.h"
#include "core/throw.h"
#include "metrics/metric.h"
#include "pipeline/case_maps.h"
#include "report/figures.h"
#include "segcal/evaluate.h"

namespace segcal::cli {
namespace {

struct Arguments {
  std::string dataset;
  std::vector<std::string> models;
  std::vector<std::string> pipelines;
  std::string output;
  std::string csv;
  std::string cells;
  std::string figures;
  std::string picture_case;
  std::vector<std::string> set;
  EvaluateOptions options;
  RunFlags run;
  bool json = false;
};

// Metric options belong to the families that know them.
void SetMetricOption(const std::string& text, EvaluateOptions* options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    Throw(ErrorCode::kInvalidArgument, "--set {}: key=value is required", text);
  const std::string key = text.substr(0, equals);
  bool known = false;
  for (const MetricInfo* info : Metrics()) {
    if (!info->defaults().contains(key)) continue;
    options->metrics[info->name][key] = text.substr(equals + 1);
    known = true;
  }
  if (!known)
    Throw(ErrorCode::kInvalidArgument, "--set {}: no metric has the option \"{}\"", text, key);
}

std::vector<Model> ModelsOf(const Arguments& given, const Dataset& dataset) {
  std::vector<Model> models;
  for (const std::string& pipeline : given.pipelines) models.push_back(Baseline(dataset, pipeline));
  for (const std::string& path : given.models) models.push_back(Model::Load(path));
  if (models.empty()) models.push_back(Baseline(dataset, "none(z)"));
  return models;
}

// The cases that took part, in their order.
Dataset EvaluatedCases(const Dataset& dataset, const EvaluateResult& result) {
  Dataset evaluated = dataset;
  const std::vector<CaseMetrics>& cases = result.pipelines.front().cases;
  std::erase_if(evaluated.cases, [&](const Case& c) {
    return std::none_of(
        cases.begin(), cases.end(), [&](const CaseMetrics& row) { return row.id == c.id; });
  });
  return evaluated;
}

int64_t CaseIndex(const Dataset& dataset, const std::string& id) {
  if (id.empty()) return 0;
  for (size_t c = 0; c < dataset.cases.size(); ++c) {
    if (dataset.cases[c].id == id) return static_cast<int64_t>(c);
  }
  Throw(
      ErrorCode::kInvalidArgument, "--picture {}: there is no such case among those evaluated", id);
}

// Writes what can be drawn and returns the files.
std::vector<std::string> WriteFigures(const Arguments& given,
                                      const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateResult& result) {
  std::error_code error;
  std::filesystem::create_directories(given.figures, error);
  if (error)
    Throw(ErrorCode::kIo, "{}: cannot create the folder: {}", given.figures, error.message());
  std::vector<std::string> files;
  const auto write = [&](const char* name, const std::string& text) {
    files.push_back((std::filesystem::path(given.figures) / name).string());
    WriteText(files.back(), text);
  };
  const PipelineMetrics& first = result.pipelines.front();
  if (!first.reliability.empty()) write("reliability.svg", ReliabilityFigure(result));
  const std::string classes = ClassReliabilityFigure(result);
  if (!classes.empty()) write("reliability_classes.svg", classes);
  const CaseMaps maps =
      MapCase(dataset, CaseIndex(dataset, given.picture_case), models, given.run.Make());
  write("case.svg", CaseFigure(dataset, maps, result));
  return files;
}

void Print(const EvaluateResult& result, const std::vector<std::string>& files) {
  fmt::print("{}{}: {} cases, {} voxels, {} labelled\n\n{}\n",
             result.dataset,
             result.split.empty() ? "" : ", split " + result.split,
             result.pipelines.front().cases.size(),
             HumanCount(result.voxels),
             HumanCount(result.labelled),
             MetricsTable(result));
  fmt::print("Mean over cases; ACE over all voxels.\n");
  for (const std::string& file : files) fmt::print("wrote {}\n", file);
}

// The tables that were asked for.
std::vector<std::string> WriteTables(const Arguments& given, const EvaluateResult& result) {
  std::vector<std::string> files;
  const auto write = [&](const std::string& path, std::string (*text)(const EvaluateResult&)) {
    if (path.empty()) return;
    WriteText(path, text(result));
    files.push_back(path);
  };
  write(given.output, &ToJson);
  write(given.csv, &ToCsv);
  write(given.cells, &CellsCsv);
  return files;
}

void Run(const Arguments& given) {
  EvaluateOptions options = given.options;
  options.run = given.run.Make();
  options.keep_cells = !given.cells.empty();
  for (const std::string& text : given.set) SetMetricOption(text, &options);
  const Dataset whole = LoadDataset(given.dataset);
  const Dataset dataset = options.split.empty() ? whole : SelectSplit(whole, options.split);
  const std::vector<Model> models = ModelsOf(given, dataset);
  CaseIndex(dataset, given.picture_case);  // an unknown one is told before the work
  const EvaluateResult result = Evaluate(dataset, models, options);
  options.run.progress = {};
  ReportSkipped(result.skipped);
  ReportRenormalised(result.renormalised);
  std::vector<std::string> files = WriteTables(given, result);
  if (!given.figures.empty()) {
    const auto figures = WriteFigures(given, EvaluatedCases(dataset, result), models, result);
    files.insert(files.end(), figures.begin(), figures.end());
  }
  if (given.json) {
    fmt::print("{}", ToJson(result));
  } else {
    Print(result, files);
  }
}

std::string Footer() {
  std::string text = "Metrics, by family:\n";
  for (const MetricInfo* info : Metrics()) {
    text += fmt::format("{}{}\n", info->name, info->on_request ? " (only when named)" : "");
    for (const MetricNumber& number : info->numbers)
      text += fmt::format("  {:<18} {}\n", number.name, number.summary);
    for (const auto& [key, value] : info->defaults())
      text += fmt::format("  {:<18}   --set {}={}\n", "", key, value);
  }
  text +=
      "\nExamples:\n  segcal evaluate camvid -p 'none(z)' -m ts.json --split test -o "
      "metrics.json\n";
  text += "  segcal evaluate camvid -m ts.json --split test --figures figures";
  return text;
}

}  // namespace

Action SetUpEvaluate(CLI::App& app) {
  auto given = std::make_shared<Arguments>();
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json")
      ->required();
  app.add_option("-m,--model", given->models, "Model file; may be given several times")
      ->allow_extra_args(false);
  app.add_option("-p,--pipeline",
                 given->pipelines,
                 "Pipeline without a fit, such as none(z); several times")
      ->allow_extra_args(false);
  app.add_option("-o,--output", given->output, "Metrics file to write (JSON, with a row per case)");
  app.add_option("--csv", given->csv, "Table to write: a row per case, group and aggregate");
  app.add_option("--cells",
                 given->cells,
                 "Table to write: per-case sums by fine ranges of confidence, for other bins");
  app.add_option("--metrics",
                 given->options.families,
                 "Families to compute, comma-separated; all: also those only computed when named")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--split", given->options.split, "Only the cases of this split");
  app.add_option(
      "--figures", given->figures, "Folder for reliability diagrams and a picture of a case");
  app.add_option("--picture", given->picture_case, "Case to draw (default: the first)");
  app.add_option("--set", given->set, "Option of a metric, key=value; several times")
      ->allow_extra_args(false);
  app.add_flag("--json", given->json, "Print the metrics as JSON");
  AddRunFlags(app, &given->run);
  app.footer(Footer());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
