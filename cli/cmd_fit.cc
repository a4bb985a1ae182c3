// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
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
  text += "  segcal fit camvid/dataset.json -p auto -o model.json     (chooses by itself)\n\n";
  text += "Uses the cases of split \"calibration\" where the data set names splits, else all.";
  return text;
}

void PrintReport(const Model& model, const std::string& output, double seconds) {
  const FitReport& fit = model.report();
  fmt::print("{}: {} in {}, {:.2f} s\n",
             model.pipeline(),
             Name(fit.status),
             Counted(fit.passes, "pass", "es"),
             seconds);
  fmt::print("  {} labelled voxels of {}\n",
             HumanCount(fit.data.labelled),
             Counted(fit.data.cases, "case"));
  fmt::print("  NLL {:.5f} -> {:.5f}\n", fit.nll_before, fit.nll_after);
  if (const std::optional<double> beta = model.inverse_temperature())
    fmt::print("  temperature {:.6g} (beta {:.6g})\n", 1.0 / *beta, *beta);
  if (!fit.search.trials.empty()) {
    fmt::print("  chosen of {} trials by {}:", fit.search.trials.size(), Name(fit.search.select));
    for (const auto& [key, value] : fit.search.chosen) fmt::print(" {}={}", key, value);
    fmt::print("\n");
  }
  double residual = 0.0;
  for (const Certificate& certificate : fit.certificates)
    residual = std::max(residual, certificate.gradient);
  if (!fit.certificates.empty()) fmt::print("  optimality residual {:.1e}\n", residual);
  if (fit.training.epochs > 0) {
    fmt::print("  epoch {} of {}, stopped by {}; validation loss {:.5f} -> {:.5f}\n",
               fit.training.best_epoch,
               fit.training.epochs,
               Name(fit.training.stopped_by),
               fit.training.start_nll,
               fit.training.validation_nll);
  }
  for (const auto& [name, value] : fit.figures) fmt::print("  {} {:.4g}\n", name, value);
  fmt::print("  translation invariant: {}; preserves: {}\n",
             model.translation_invariant() ? "yes" : "no",
             Name(model.preserves()));
  for (const std::string& warning : fit.warnings)
    Warn(fmt::format("{}: {}", model.pipeline(), warning));
  fmt::print("wrote {}\n", output);
}

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
  options.checkpoint = output + ".part";
  if (!options.resume && std::filesystem::exists(options.checkpoint)) {
    Warn(fmt::format(
        "{} was left by a fit that was stopped; this one starts afresh (--resume would go on with "
        "it)",
        options.checkpoint));
  }
  AdviseOnInterrupt(
      [output, part = options.checkpoint, finished] { return WhatIsKept(output, part, finished); });
  const auto began = std::chrono::steady_clock::now();
  const FitResult result = Fit(dataset, pipeline, options);
  EndProgress(&options.run);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ReportSkipped(result.skipped);
  result.model.Save(output);
  std::filesystem::remove(options.checkpoint);
  if (given.json) {
    fmt::print("{}", result.model.ToJson());
  } else {
    PrintReport(result.model, output, seconds);
  }
}

// Chooses a pipeline by itself.
void FitChosen(const Dataset& dataset, const FitArguments& given) {
  FitOptions options = given.options;
  options.run = given.run.Make();
  AdviseOnInterrupt([output = given.output] {
    return output + " was not written; the same command starts it again";
  });
  const auto began = std::chrono::steady_clock::now();
  const AutoResult result = FitAuto(dataset, options);
  EndProgress(&options.run);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  result.model.Save(given.output);
  if (given.json) {
    fmt::print("{}", result.model.ToJson());
    return;
  }
  for (const std::string& reason : result.recommendation.reasons) fmt::print("{}\n", reason);
  PrintReport(result.model, given.output, seconds);
  for (const std::string& warning : result.recommendation.warnings) Warn(warning);
}

void Run(const FitArguments& given) {
  if (given.pipelines == std::vector<std::string>{"auto"}) {
    const Dataset cases = LoadDataset(given.dataset);
    CreateParentFolder(given.output);
    return FitChosen(cases, given);
  }
  const std::vector<std::string> pipelines = ExpandPipelines(given.pipelines);
  const Dataset dataset = LoadDataset(given.dataset);
  CreateParentFolder(given.output);
  if (pipelines.size() == 1) return FitOne(dataset, pipelines[0], given.output, 0, given);
  CreateFolder(given.output);
  int64_t finished = 0;
  for (const std::string& pipeline : pipelines) {
    const auto file = std::filesystem::path(given.output) / ModelFileName(pipeline);
    FitOne(dataset, pipeline, file.string(), finished++, given);
  }
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
                 "Model file to write; with several pipelines, the folder for them")
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
  app.add_option("--seed", given->options.seed, "Seed of samples, trainings and searches")
      ->capture_default_str();
  app.add_flag("--resume",
               given->options.resume,
               "Go on with a training that was stopped: it keeps its state in OUTPUT.part");
  app.add_flag("--json", given->json, "Print the model as JSON");
  AddRunFlags(app, &given->run);
  app.footer(CalibratorHelp());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
