// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/print_model.h"
#include "cli/ranks.h"
#include "cli/throw.h"
#include "segcal/compare.h"
#include "segcal/files.h"
#include "segcal/fit.h"
#include "segcal/methods.h"

namespace segcal::cli {
namespace {

struct FitArguments {
  std::string dataset;
  std::vector<std::string> pipelines = {"ts(z)"};
  std::string output;
  std::string select = "folds";
  FitOptions options;
  RunFlags run;
  bool force = false;
  bool json = false;
};

std::string CalibratorHelp() {
  std::string text = "Calibrators:\n";
  for (const CalibratorDescription& calibrator : ListCalibrators()) {
    text += fmt::format("  {:<10} {}\n", calibrator.name, calibrator.summary);
    for (const auto& [key, value] : calibrator.options)
      text += fmt::format("  {:<10}   {}={}\n", "", key, value);
  }
  text +=
      "Poolings: z (mean of the members' logits), p (mean of their probabilities), z0, z1, ... "
      "(one member)\n"
      "Every pipeline on p is translation invariant, whatever its calibrator.\n\n";
  text += "Sets of pipelines, fitted one after the other into the folder OUTPUT:\n";
  for (const PipelineSet& set : ListPipelineSets())
    text += fmt::format("  {:<10} {}\n", set.name, set.summary);
  text += "\nExamples:\n  segcal fit camvid/dataset.json -p 'ts(z)' -o ts.json\n";
  text += "  segcal fit camvid/dataset.json -p paper -o models\n";
  text += "  segcal fit camvid/dataset.json -p auto -o model.json     (chooses by itself)\n";
  text += "  segcal fit camvid/dataset.json -p 'ts(z)' 'cms_ap(p)' -o models --resume\n\n";
  text += "Uses the cases of split \"calibration\" where the data set names splits, else all.";
  return text;
}

void PrintReport(const Model& model, const std::string& output, double seconds) {
  PrintModel(model);
  for (const std::string& warning : model.report().warnings)
    Warn(fmt::format("{}: {}", model.pipeline(), warning));
  fmt::print("wrote {} after {:.2f} s\n", output, seconds);
}

// Where a training keeps its state.
std::string CheckpointFile(const std::string& output) { return output + ".part"; }

// For whoever stops a fit: `finished` models are complete beside it.
std::string WhatIsKept(const std::string& output, const std::string& checkpoint, int64_t finished) {
  std::string text = finished > 0
                         ? fmt::format("{} complete in {}; ",
                                       Counted(finished, "model"),
                                       std::filesystem::path(output).parent_path().string())
                         : "";
  if (!std::filesystem::exists(checkpoint))
    return text + output + " was not written; the same command starts it again";
  return text + checkpoint + " keeps the training so far; the same command with --resume goes on";
}

void FitOne(const Dataset& dataset,
            const std::string& pipeline,
            const std::string& output,
            int64_t finished,
            const FitArguments& given) {
  FitOptions options = given.options;
  options.run = given.run.Make();
  options.select = ParseSelection(given.select);
  options.checkpoint = CheckpointFile(output);
  options.finished = output;
  AdviseOnInterrupt(
      [output, part = options.checkpoint, finished] { return WhatIsKept(output, part, finished); });
  const auto began = std::chrono::steady_clock::now();
  const FitResult result = Fit(dataset, pipeline, options);
  EndProgress(&options.run);
  if (!IsFirstRank()) return;  // all have the same model
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ReportSkipped(result.skipped);
  const bool kept = !result.model.file().empty();
  if (!kept) result.model.Save(output);
  std::filesystem::remove(options.checkpoint);
  if (given.json) {
    fmt::print("{}", result.model.ToJson());
  } else if (kept) {
    fmt::print("{}: complete in {}, kept\n", pipeline, output);
  } else {
    PrintReport(result.model, output, seconds);
  }
}

// One pipeline goes to the file that is named, several into the folder, and one too where it is a
// folder.
std::vector<std::string> OutputFiles(const std::string& output,
                                     const std::vector<std::string>& pipelines) {
  if (pipelines.size() == 1 && !NamesFolder(output)) return {output};
  std::vector<std::string> files;
  for (const std::string& pipeline : pipelines)
    files.push_back((std::filesystem::path(output) / ModelFileName(pipeline)).string());
  return files;
}

// Hours of training must not be lost because a word was forgotten.
void CheckKept(const std::string& checkpoint, const FitArguments& given) {
  std::error_code ignored;
  const bool kept = std::filesystem::exists(checkpoint, ignored);
  if (given.options.resume || given.force || !kept) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: keeps a training that was stopped; --resume goes on with it, --force starts afresh",
        checkpoint);
}

// Before the work.
void CheckFiles(const Dataset& dataset,
                const std::vector<std::string>& files,
                const FitArguments& given) {
  OutputCheck check(given.force);
  check.Reads(dataset);
  for (const std::string& file : files) {
    check.Writes(file, FileKind::kModel);
    check.Writes(CheckpointFile(file), FileKind::kCheckpoint);
    CheckKept(CheckpointFile(file), given);
  }
}

// Chooses a pipeline by itself. Several fits go on at a time, which ranks do not share.
void FitChosen(const Dataset& dataset, const std::string& output, const FitArguments& given) {
  if (!IsFirstRank()) return;
  FitOptions options = given.options;
  options.run = given.run.Make();
  AdviseOnInterrupt(
      [output] { return output + " was not written; the same command starts it again"; });
  const auto began = std::chrono::steady_clock::now();
  const AutoResult result = FitAuto(dataset, options);
  EndProgress(&options.run);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  result.model.Save(output);
  if (given.json) {
    fmt::print("{}", result.model.ToJson());
    return;
  }
  for (const std::string& reason : result.recommendation.reasons) fmt::print("{}\n", reason);
  PrintReport(result.model, output, seconds);
  for (const std::string& warning : result.recommendation.warnings) Warn(warning);
}

void Run(const FitArguments& given) {
  const bool choose = given.pipelines == std::vector<std::string>{"auto"};
  const std::vector<std::string> pipelines =
      choose ? given.pipelines : ExpandPipelines(given.pipelines);
  const Dataset dataset = LoadDataset(given.dataset);
  const std::vector<std::string> files = OutputFiles(given.output, pipelines);
  CheckFiles(dataset, files, given);
  NewFolders folders;
  if (IsFirstRank()) folders.MakeParent(files.front());
  if (choose) return FitChosen(dataset, files.front(), given);
  OwnRanks().share_fits();
  for (size_t i = 0; i < files.size(); ++i)
    FitOne(dataset, pipelines[i], files[i], static_cast<int64_t>(i), given);
}

}  // namespace

Action SetUpFit(CLI::App& app) {
  auto given = std::make_shared<FitArguments>();
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json")
      ->required();
  app.add_option(
         "-p,--pipeline",
         given->pipelines,
         "Calibrator and pooling: name(pooling, key=value), or a set of them; several times")
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("-o,--output",
                 given->output,
                 "Model file to write, or the folder for it; with several pipelines, their folder")
      ->required();
  app.add_option(
      "--split", given->options.split, "Fit on the cases of this split (default: calibration)");
  app.add_option("--validation",
                 given->options.validation,
                 "Choose penalties, and the best epoch of a training, by the cases of this split "
                 "(default: validation, where the data set has it)");
  app.add_option("--search",
                 given->options.search,
                 "Trials of the search for penalties or training options (default: 20 where there "
                 "are validation cases, else 0). Without such cases penalties are chosen by "
                 "five-fold cross-validation over groups, trainings by groups they hold out")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--select",
                 given->select,
                 "folds: penalties are chosen by groups of the calibration and validation cases in "
                 "turn, and the model is fitted on all of them; validation: chosen by the "
                 "validation cases, fitted on the others. Trainings always stop by validation "
                 "cases")
      ->check(CLI::IsMember({"folds", "validation"}))
      ->capture_default_str();
  AddSeed(app, &given->options.seed, "Seed of samples, trainings and searches");
  app.add_flag(
      "--resume",
      given->options.resume,
      "Go on with what was stopped: keep models of the same fits that are complete, and go on "
      "with a training, which keeps its state in MODEL.part");
  AddForce(app, &given->force);
  app.add_flag("--json", given->json, "Print the model as JSON");
  AddRunFlags(app, &given->run);
  app.footer(CalibratorHelp());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
