// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "calibrators/list.h"
#include "cli/command.h"
#include "cli/print_evaluation.h"
#include "core/file.h"
#include "core/throw.h"
#include "metrics/metric.h"
#include "pipeline/accumulators.h"
#include "pipeline/case_maps.h"
#include "pipeline/model.h"
#include "report/figures.h"
#include "report/metrics_table.h"
#include "results/statistics.h"
#include "segcal/evaluate.h"

namespace segcal::cli {
namespace {

struct EvaluateArguments {
  std::string dataset;
  std::vector<std::string> models;
  std::vector<std::string> pipelines;
  std::string output;
  std::string csv;
  std::string cells;
  std::string figures;
  std::string picture_case;
  std::vector<std::string> set;
  std::string table = "text";
  bool statistics = false;
  StatisticsOptions statistics_options;
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

// Where in the list of methods a model's is: uncalibrated predictions come first.
int64_t ListPlace(const Model& model) {
  const auto& list = Calibrators();
  const auto it = std::find_if(list.begin(), list.end(), [&](const CalibratorInfo* info) {
    return info->name == ModelAccess::State(model).spec.stages.front();
  });
  return it - list.begin();
}

// Of a file, or of a folder in the order of the list of methods.
std::vector<Model> LoadModels(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {Model::Load(path)};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  if (files.empty())
    Throw(ErrorCode::kInvalidArgument, "--model {}: the folder holds no .json file", path);
  std::sort(files.begin(), files.end());
  std::vector<Model> models;
  models.reserve(files.size());
  for (const std::string& file : files) models.push_back(Model::Load(file));
  std::stable_sort(models.begin(), models.end(), [](const Model& a, const Model& b) {
    return ListPlace(a) < ListPlace(b);
  });
  return models;
}

// Every option must belong to something that is computed.
void CheckMetricOptions(const std::vector<std::string>& set, const EvaluateOptions& options) {
  const MetricSelection selection = SelectMetrics(options);
  for (const std::string& text : set) {
    const std::string key = text.substr(0, text.find('='));
    const bool used = std::any_of(selection.begin(), selection.end(), [&](const auto& family) {
      return family.info->defaults().contains(key);
    });
    if (used) continue;
    std::vector<std::string> families;
    for (const MetricInfo* info : Metrics()) {
      if (info->defaults().contains(key)) families.emplace_back(info->name);
    }
    Throw(ErrorCode::kInvalidArgument,
          "--set {}: an option of {}, which is not computed; --metrics names it",
          text,
          fmt::join(families, ", "));
  }
}

std::vector<Model> LoadModels(const EvaluateArguments& given, const Dataset& dataset) {
  std::vector<Model> models;
  for (const std::string& pipeline : given.pipelines) models.push_back(Baseline(dataset, pipeline));
  for (const std::string& path : given.models) {
    for (Model& model : LoadModels(path)) models.push_back(std::move(model));
  }
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

// Writes what can be drawn and returns the files.
std::vector<std::string> WriteFigures(const EvaluateArguments& given,
                                      const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateResult& result) {
  CreateFolder(given.figures);
  std::vector<std::string> files;
  const auto write = [&](const char* name, const std::string& text) {
    files.push_back((std::filesystem::path(given.figures) / name).string());
    WriteText(files.back(), text);
  };
  const PipelineMetrics& first = result.pipelines.front();
  if (FindDiagram(first.diagrams, DiagramKind::kReliability, "top_label") != nullptr)
    write("reliability.svg", ReliabilityFigure(result));
  const std::string classes = ClassReliabilityFigure(result);
  if (!classes.empty()) write("reliability_classes.svg", classes);
  const std::string regions = RegionReliabilityFigure(result);
  if (!regions.empty()) write("reliability_regions.svg", regions);
  const CaseMaps maps =
      MapCase(dataset, PictureCase(dataset, given.picture_case), models, given.run.Make());
  write("case.svg", CaseFigure(dataset, maps, result));
  return files;
}

// The files that were asked for.
std::vector<std::string> WriteTables(const EvaluateArguments& given, const EvaluateResult& result) {
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

// From the values of cases, by the metrics of the table.
Statistics MakeStatistics(const EvaluateArguments& given, const EvaluateResult& result) {
  StatisticsOptions options = given.statistics_options;
  options.threads = given.run.run.threads;
  for (const MetricColumn& column : MetricColumns(result, given.options.families))
    options.metrics.push_back(column.metric);
  return ComputeStatistics({&result, 1}, options);
}

// What cannot be computed is told before the work.
void Check(const EvaluateArguments& given,
           const Dataset& dataset,
           const std::vector<Model>& models) {
  for (const std::string* file : {&given.output, &given.csv, &given.cells}) {
    if (!file->empty()) CreateParentFolder(*file);
  }
  PictureCase(dataset, given.picture_case);
  std::vector<std::string> pipelines;
  pipelines.reserve(models.size());
  for (const Model& model : models) pipelines.push_back(model.pipeline());
  ReferenceIndex(pipelines, given.statistics_options.reference);
}

// Cases that fit takes unless told otherwise make a model look better than it is.
void WarnOfFittedCases(const EvaluateArguments& given, const Dataset& dataset) {
  if (given.models.empty() || !given.options.split.empty()) return;
  const auto fitted = std::count_if(dataset.cases.begin(), dataset.cases.end(), [](const Case& c) {
    return c.split == "calibration" || c.split == "validation";
  });
  if (fitted == 0) return;
  Warn(fmt::format(
      "{} of the {} cases are of split \"calibration\" or \"validation\", which models are fitted "
      "on and chosen by; --split test leaves them out",
      fitted,
      dataset.cases.size()));
}

void Run(const EvaluateArguments& given) {
  EvaluateOptions options = given.options;
  options.run = given.run.Make();
  options.keep_cells = !given.cells.empty();
  for (const std::string& text : given.set) SetMetricOption(text, &options);
  CheckMetricOptions(given.set, options);
  const Dataset whole = LoadDataset(given.dataset);
  const Dataset dataset = options.split.empty() ? whole : SelectSplit(whole, options.split);
  const std::vector<Model> models = LoadModels(given, dataset);
  Check(given, dataset, models);
  WarnOfFittedCases(given, dataset);
  EvaluateResult result = Evaluate(dataset, models, options);
  if (given.statistics || !given.statistics_options.reference.empty())
    result.statistics = MakeStatistics(given, result);
  EndProgress(&options.run);
  ReportSkipped(result.skipped);
  ReportRenormalised(result.renormalised);
  for (const std::string& warning : result.warnings) Warn(warning);
  std::vector<std::string> files = WriteTables(given, result);
  if (!given.figures.empty()) {
    const auto figures = WriteFigures(given, EvaluatedCases(dataset, result), models, result);
    files.insert(files.end(), figures.begin(), figures.end());
  }
  if (given.json) {
    fmt::print("{}", ToJson(result));
  } else {
    PrintEvaluation(result, given.options.families, given.table, files);
  }
}

std::string EvaluateFooter() {
  std::string text = "Metrics, by family:\n";
  for (const MetricInfo* info : Metrics()) {
    text += fmt::format("{}{}\n", info->name, info->on_request ? " (only when named)" : "");
    for (const MetricNumber& number : info->numbers)
      text += fmt::format("  {:<18} {}\n", number.name, number.summary);
    for (const auto& [key, value] : info->defaults())
      text += fmt::format("  {:<18}   --set {}={}\n", "", key, value);
  }
  text +=
      "\nExamples:\n"
      "  segcal evaluate camvid -p 'none(z)' -m ts.json --split test -o metrics.json\n"
      "  segcal evaluate camvid -p 'none(z)' -m ts.json -m dc.json --split test --statistics \\\n"
      "    --table latex\n"
      "  segcal evaluate camvid -m models --split test --table markdown\n"
      "  segcal evaluate hippocampus -m brain.json --split test --metrics nll,ece,ba_ece \\\n"
      "    --set distance=physical\n"
      "  segcal evaluate camvid -m ts.json --split test --metrics all -o metrics.json --figures "
      "figures";
  return text;
}

}  // namespace

Action SetUpEvaluate(CLI::App& app) {
  auto given = std::make_shared<EvaluateArguments>();
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json")
      ->required();
  app.add_option("-m,--model", given->models, "Model file, or a folder of them; several times")
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
  app.add_option(
         "--metrics",
         given->options.families,
         "What to compute and show, families or metrics, comma-separated (default: all families "
         "but those marked below); all: those too, and the table shows the main ones, -o and "
         "--csv every number")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
      "--split", given->options.split, "Only the cases of this split (default: all cases)");
  app.add_option("--figures", given->figures, "Folder for reliability diagrams and maps of a case");
  app.add_option("--picture", given->picture_case, "Case to draw (default: the first)");
  app.add_option("--set", given->set, "Option of a metric, key=value; several times")
      ->allow_extra_args(false);
  app.add_option("--table", given->table, "Form of the printed tables")
      ->check(CLI::IsMember({"text", "markdown", "latex", "csv"}))
      ->capture_default_str();
  app.add_flag("--json", given->json, "Print the metrics as JSON");
  StatisticsOptions& statistics = given->statistics_options;
  app.add_flag("--statistics",
               given->statistics,
               "Bootstrap intervals; for several pipelines differences from the reference, rank "
               "tests and ranks");
  app.add_option("--reference",
                 statistics.reference,
                 "Pipeline to compare the others with, for --statistics (default: the first)");
  app.add_option("--replicates", statistics.replicates, "Of the bootstrap")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--level", statistics.level, "Of the intervals")
      ->check(CLI::Range(0.5, 0.9999))
      ->capture_default_str();
  app.add_option("--seed", statistics.seed, "Of the bootstrap")->capture_default_str();
  AddRunFlags(app, &given->run);
  app.footer(EvaluateFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
