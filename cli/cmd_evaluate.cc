// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/evaluation_output.h"
#include "cli/interrupt.h"
#include "cli/part_flags.h"
#include "cli/ranks.h"
#include "cli/throw.h"
#include "segcal/evaluate.h"
#include "segcal/figures.h"
#include "segcal/files.h"
#include "segcal/fit.h"
#include "segcal/methods.h"
#include "segcal/parts.h"

namespace segcal::cli {
namespace {

struct EvaluateArguments {
  std::string dataset;
  std::vector<std::string> models;
  std::vector<std::string> pipelines;
  EvaluationOutput out;
  std::string figures;
  std::string picture_case;
  std::vector<std::string> set;
  EvaluateOptions options;
  PartFlags part;
  bool keep_cells = false;
  RunFlags run;
};

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

std::string FigureFile(const EvaluateArguments& given, const std::string& name) {
  return (std::filesystem::path(given.figures) / name).string();
}

// What is read and what will be written, before the work.
void CheckFiles(const EvaluateArguments& given,
                const Dataset& dataset,
                const std::vector<Model>& models) {
  OutputCheck check(given.out.force);
  check.Reads(dataset);
  for (const Model& model : models) check.Reads(model.file());
  CheckPartFile(given.part, &check);
  CheckTables(given.out, &check);
  if (given.figures.empty()) return;
  for (const std::string& name : EvaluationFigureNames())
    check.Writes(FigureFile(given, name), FileKind::kFigure);
}

// Writes what can be drawn and returns the files.
std::vector<std::string> WriteFigures(const EvaluateArguments& given,
                                      const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateResult& result) {
  std::vector<std::string> files;
  const CaseFigureOptions options{.run = given.run.Make(), .case_id = given.picture_case};
  const std::vector<Figure> figures = EvaluationFigures(dataset, models, result, options);
  NewFolders folders;
  folders.Make(given.figures);
  for (const Figure& figure : figures) {
    files.push_back(FigureFile(given, figure.name));
    WriteText(files.back(), figure.svg);
  }
  return files;
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
  ReferenceIndex(pipelines, given.out.statistics_options.reference);
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

EvaluateOptions MakeOptions(const EvaluateArguments& given) {
  EvaluateOptions options = given.options;
  options.run = given.run.Make();
  options.keep_cells = given.keep_cells || !given.out.cells.empty();
  for (const std::string& text : given.set) SetMetricOption(text, &options);
  CheckMetricOptions(given.set, options);
  CheckSort(given.out.sort, options);
  return options;
}

// All cases, whoever evaluates them; nothing where another process has the result.
std::optional<EvaluateResult> EvaluateAll(const Dataset& dataset,
                                          const std::vector<Model>& models,
                                          const EvaluateOptions& options) {
  if (!IsOneOfMany()) return Evaluate(dataset, models, options);
  return MergeRanks(EvaluatePart(dataset, models, options, OwnPart()), MergeEvaluate);
}

// All of it, and what was asked for.
void EvaluateWhole(const EvaluateArguments& given,
                   const Dataset& dataset,
                   const std::vector<Model>& models,
                   EvaluateOptions options) {
  std::optional<EvaluateResult> evaluated = EvaluateAll(dataset, models, options);
  if (!evaluated) return;
  EvaluateResult& result = *evaluated;
  AddStatistics(given.out, options.families, options.run, &result);
  EndProgress(&options.run);
  ReportEvaluation(result);
  std::vector<std::string> files = WriteTables(given.out, result);
  if (!files.empty()) {
    AdviseOnInterrupt([files] {
      return fmt::format("{} complete; the same command starts again", fmt::join(files, ", "));
    });
  }
  if (!given.figures.empty()) {
    const auto figures = WriteFigures(given, dataset, models, result);
    files.insert(files.end(), figures.begin(), figures.end());
  }
  ShowEvaluation(given.out, result, options.families, files);
}

void Run(const EvaluateArguments& given) {
  CheckPartFlags(given.part);
  EvaluateOptions options = MakeOptions(given);
  const Dataset whole = LoadDataset(given.dataset);
  const Dataset dataset = options.split.empty() ? whole : SelectSplit(whole, options.split);
  const std::vector<Model> models = ModelsToEvaluate(given, dataset);
  Check(given, dataset, models);
  WarnOfFittedCases(given, dataset, models);
  if (!given.part.given()) return EvaluateWhole(given, dataset, models, std::move(options));
  const PartState state = EvaluatePart(dataset, models, options, given.part.Parse());
  EndProgress(&options.run);
  SavePart(given.part, state);
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
      "figures\n"
      "  segcal evaluate camvid -m ts.json --split test --part 3/10 --state parts/3.part";
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
  std::vector<CLI::Option*> whole = AddEvaluationOutput(app, &given->out);
  whole.push_back(figures);
  CLI::Option* part = AddPartFlags(app, &given->part, whole);
  app.add_flag("--keep-cells", given->keep_cells, "With --part: keep what merge --cells writes")
      ->needs(part);
  AddRunFlags(app, &given->run);
  app.footer(EvaluateFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
