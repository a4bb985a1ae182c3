// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/print_evaluation.h"
#include "cli/throw.h"
#include "segcal/evaluate.h"
#include "segcal/figures.h"
#include "segcal/files.h"
#include "segcal/fit.h"
#include "segcal/methods.h"
#include "segcal/tables.h"

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
  std::string sort;
  bool per_class = false;
  bool statistics = false;
  StatisticsOptions statistics_options;
  EvaluateOptions options;
  RunFlags run;
  bool force = false;
  bool json = false;
};

// Of a value that the parser has checked.
TableForm ParseForm(const std::string& name) {
  if (name == "markdown") return TableForm::kMarkdown;
  if (name == "latex") return TableForm::kLatex;
  return name == "csv" ? TableForm::kCsv : TableForm::kText;
}

// The families that have an option.
std::vector<std::string> FamiliesWith(const std::string& option) {
  std::vector<std::string> names;
  for (const MetricFamilyDescription& family : ListMetrics()) {
    if (family.options.contains(option)) names.push_back(family.name);
  }
  return names;
}

// Metric options belong to the families that know them.
void SetMetricOption(const std::string& text, EvaluateOptions* options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    Throw(ErrorCode::kInvalidArgument, "--set {}: key=value is required", text);
  const std::string key = text.substr(0, equals);
  const std::vector<std::string> families = FamiliesWith(key);
  if (families.empty())
    Throw(ErrorCode::kInvalidArgument, "--set {}: no metric has the option \"{}\"", text, key);
  for (const std::string& family : families)
    options->metrics[family][key] = text.substr(equals + 1);
}

// Every option must belong to something that is computed.
void CheckMetricOptions(const std::vector<std::string>& set, const EvaluateOptions& options) {
  const std::vector<std::string> computed = SelectedFamilies(options);
  for (const std::string& text : set) {
    const std::vector<std::string> families = FamiliesWith(text.substr(0, text.find('=')));
    const bool used = std::any_of(families.begin(), families.end(), [&](const auto& family) {
      return std::find(computed.begin(), computed.end(), family) != computed.end();
    });
    if (used) continue;
    Throw(ErrorCode::kInvalidArgument,
          "--set {}: an option of {}, which is not computed; --metrics names it",
          text,
          fmt::join(families, ", "));
  }
}

// A pipeline that needs a fit is no baseline.
Model MakeBaseline(const Dataset& dataset, const std::string& pipeline) {
  try {
    return Baseline(dataset, pipeline);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    Throw(
        error.code(),
        "{}; -p takes what needs no fit, -m the model of: segcal fit DATASET -p '{}' -o model.json",
        error.what(),
        pipeline);
  }
}

// Whether a model without parameters is already among others: a folder of models may hold the
// baseline that is also named.
bool IsListed(const Model& model, const std::vector<Model>& models) {
  if (model.parameter_counts().optimised > 0) return false;
  return std::any_of(models.begin(), models.end(), [&](const Model& other) {
    return other.pipeline() == model.pipeline();
  });
}

// What tables are sorted by must be computed, and have a best value.
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

std::vector<Model> MakeModels(const EvaluateArguments& given, const Dataset& dataset) {
  std::vector<Model> models;
  for (const std::string& pipeline : ExpandPipelines(given.pipelines))
    models.push_back(MakeBaseline(dataset, pipeline));
  for (const std::string& path : given.models) {
    for (Model& model : LoadModels(path)) {
      if (!IsListed(model, models)) models.push_back(std::move(model));
    }
  }
  if (models.empty()) models.push_back(Baseline(dataset, "none(z)"));
  return models;
}

// Figures compare with the uncalibrated prediction, which need not be named.
std::vector<Model> ModelsToEvaluate(const EvaluateArguments& given, const Dataset& dataset) {
  std::vector<Model> models = MakeModels(given, dataset);
  return given.figures.empty() ? models : WithBaselines(dataset, models);
}

std::string FigureFile(const EvaluateArguments& given, const Figure& figure) {
  return (std::filesystem::path(given.figures) / figure.name).string();
}

// What is read and what will be written, before the work.
void CheckFiles(const EvaluateArguments& given,
                const Dataset& dataset,
                const std::vector<Model>& models,
                const std::vector<Figure>& figures = {}) {
  OutputCheck check(given.force);
  check.Reads(dataset);
  for (const Model& model : models) check.Reads(model.file());
  if (!given.output.empty()) check.Writes(given.output, FileKind::kMetrics);
  if (!given.csv.empty()) check.Writes(given.csv, FileKind::kTable);
  if (!given.cells.empty()) check.Writes(given.cells, FileKind::kTable);
  if (!given.figures.empty()) check.WritesInto(given.figures);
  for (const Figure& figure : figures) check.Writes(FigureFile(given, figure), FileKind::kFigure);
}

// Writes what can be drawn and returns the files.
std::vector<std::string> WriteFigures(const EvaluateArguments& given,
                                      const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateResult& result) {
  std::vector<std::string> files;
  const CaseFigureOptions options{.run = given.run.Make(), .case_id = given.picture_case};
  const std::vector<Figure> figures = EvaluationFigures(dataset, models, result, options);
  CheckFiles(given, dataset, models, figures);
  NewFolders folders;
  folders.Make(given.figures);
  for (const Figure& figure : figures) {
    files.push_back(FigureFile(given, figure));
    WriteText(files.back(), figure.svg);
  }
  return files;
}

// The files that were asked for.
std::vector<std::string> WriteTables(const EvaluateArguments& given, const EvaluateResult& result) {
  NewFolders folders;
  std::vector<std::string> files;
  const auto write = [&](const std::string& path, std::string (*text)(const EvaluateResult&)) {
    if (path.empty()) return;
    folders.MakeParent(path);
    WriteText(path, text(result));
    files.push_back(path);
  };
  write(given.output, &ToJson);
  write(given.csv, &ToCsv);
  write(given.cells, &CellsCsv);
  return files;
}

// From the values of cases, by the metrics of the table.
Statistics MakeStatistics(const EvaluateArguments& given,
                          const EvaluateResult& result,
                          const ProgressCallback& progress) {
  StatisticsOptions options = given.statistics_options;
  options.threads = given.run.run.threads;
  for (const MetricColumn& column : MetricColumns(result, given.options.families))
    options.metrics.push_back(column.metric);
  return ComputeStatistics({&result, 1}, options, progress);
}

// What cannot be computed is told before the work.
void Check(const EvaluateArguments& given,
           const Dataset& dataset,
           const std::vector<Model>& models) {
  CheckFiles(given, dataset, models);
  CheckPicture(dataset, given.picture_case);
  std::vector<std::string> pipelines;
  pipelines.reserve(models.size());
  for (const Model& model : models) pipelines.push_back(model.pipeline());
  ReferenceIndex(pipelines, given.statistics_options.reference);
}

// Cases that fit takes unless told otherwise make a model look better than it is. Models that know
// their cases say so themselves; those of version 0.1 do not.
void WarnOfFittedCases(const EvaluateArguments& given,
                       const Dataset& dataset,
                       const std::vector<Model>& models) {
  const bool knowing = std::all_of(models.begin(), models.end(), [](const Model& model) {
    return model.report().data.cases == 0 || !model.report().data.case_hashes.empty();
  });
  if (knowing || !given.options.split.empty()) return;
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
  CheckSort(given.sort, options);
  const Dataset whole = LoadDataset(given.dataset);
  const Dataset dataset = options.split.empty() ? whole : SelectSplit(whole, options.split);
  const std::vector<Model> models = ModelsToEvaluate(given, dataset);
  Check(given, dataset, models);
  WarnOfFittedCases(given, dataset, models);
  EvaluateResult result = Evaluate(dataset, models, options);
  if (given.statistics || !given.statistics_options.reference.empty())
    result.statistics = MakeStatistics(given, result, options.run.progress);
  EndProgress(&options.run);
  ReportSkipped(result.skipped);
  ReportRenormalised(result.renormalised);
  for (const std::string& warning : result.warnings) Warn(warning);
  std::vector<std::string> files = WriteTables(given, result);
  if (!files.empty()) {
    AdviseOnInterrupt([files] {
      return fmt::format("{} complete; the same command starts again", fmt::join(files, ", "));
    });
  }
  if (!given.figures.empty()) {
    const auto figures = WriteFigures(given, dataset, models, result);
    files.insert(files.end(), figures.begin(), figures.end());
  }
  if (given.json) {
    fmt::print("{}", ToJson(result));
  } else {
    const PrintOptions print{.form = ParseForm(given.table), .per_class = given.per_class};
    PrintEvaluation(given.sort.empty() ? result : SortedBy(result, given.sort),
                    given.options.families,
                    print,
                    files);
  }
}

std::string EvaluateFooter() {
  std::string text = "Metrics, by family:\n";
  for (const MetricFamilyDescription& family : ListMetrics()) {
    text += fmt::format("{}{}\n", family.name, family.on_request ? " (only when named)" : "");
    for (const MetricDescription& metric : family.metrics)
      text += fmt::format("  {:<18} {}\n", metric.name, metric.summary);
    for (const auto& [key, value] : family.options)
      text += fmt::format("  {:<18}   --set {}={}\n", "", key, value);
  }
  text += "s2: a set, ECE, MCE, SCE and ACE in the regions All, Boundary and patches, 10 bins\n";
  text +=
      "\nExamples:\n"
      "  segcal evaluate camvid -p 'none(z)' -m ts.json --split test -o metrics.json\n"
      "  segcal evaluate camvid -p 'none(z)' -m ts.json -m dc.json --split test --statistics \\\n"
      "    --table latex\n"
      "  segcal evaluate camvid -m models --split test --table markdown\n"
      "  segcal evaluate camvid -m models --split test --sort nll --per-class\n"
      "  segcal evaluate camvid -m models --split test --metrics s2 --table latex\n"
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
  CLI::Option* figures = app.add_option(
      "--figures",
      given->figures,
      "Folder for reliability diagrams, risk and coverage, confusion and maps of a case; "
      "the uncalibrated prediction of every pooling is evaluated too");
  app.add_option("--picture",
                 given->picture_case,
                 "Case to draw (default: the one whose gain in ECE is the median of all)")
      ->needs(figures);
  app.add_option("--set", given->set, "Option of a metric, key=value; several times")
      ->allow_extra_args(false);
  app.add_option("--table", given->table, "Form of the printed tables")
      ->check(CLI::IsMember({"text", "markdown", "latex", "csv"}))
      ->capture_default_str();
  app.add_option("--sort", given->sort, "Metric whose best pipeline comes first in the tables");
  app.add_flag("--per-class", given->per_class, "Print a table of classes too");
  AddForce(app, &given->force);
  app.add_flag("--json", given->json, "Print the metrics as JSON");
  StatisticsOptions& statistics = given->statistics_options;
  app.add_flag("--statistics",
               given->statistics,
               "Bootstrap intervals; for several pipelines differences from the reference, rank "
               "tests and ranks");
  app.add_option("--reference",
                 statistics.reference,
                 "Pipeline to compare the others with, for --statistics (default: the first)");
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
  AddRunFlags(app, &given->run);
  app.footer(EvaluateFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
