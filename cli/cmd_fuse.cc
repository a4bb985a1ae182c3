// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/print_evaluation.h"
#include "cli/throw.h"
#include "segcal/files.h"
#include "segcal/fuse.h"
#include "segcal/methods.h"

namespace segcal::cli {
namespace {

struct FuseArguments {
  std::string dataset;
  std::vector<std::string> models;
  std::vector<std::string> pipelines;
  std::string output;
  std::string votes;
  std::string table = "text";
  FuseOptions options;
  RunFlags run;
  bool json = false;
};

std::vector<Model> LoadAll(const std::vector<std::string>& paths) {
  std::vector<Model> models;
  for (const std::string& path : paths) {
    for (Model& model : LoadModels(path)) models.push_back(std::move(model));
  }
  return models;
}

void PrintVotes(const FuseArguments& given, const Dataset& votes) {
  fmt::print("wrote {}/dataset.json: {}, {}\n",
             given.votes,
             Counted(std::ssize(votes.cases), "vote"),
             Counted(votes.num_classes(), "class", "es"));
  fmt::print("next: segcal fit {} -p 'ts(z)' -o model.json\n", given.votes);
}

void PrintResult(const FuseArguments& given, const FuseResult& result) {
  const TableForm form = ParseTableForm(given.table);
  const bool measured = !result.rows.empty();
  if (form != TableForm::kText) {
    if (measured) fmt::print("{}", FusionTable(result, true).Render(form));
    return;
  }
  fmt::print("{}: {} of {} candidates, {} voxels, {}\n",
             result.dataset,
             Counted(result.cases, "case"),
             result.candidates,
             HumanCount(result.voxels),
             result.method);
  if (measured) {
    fmt::print("\n{}", FusionTable(result, false).ToText());
    fmt::print(
        "changed: of the voxels where candidates differ; w→c, c→w: of the changed ones, wrong to "
        "correct and back\n");
  }
  if (measured && result.rows.front().cases.size() > 1) {
    fmt::print("\ndifference from uncalibrated, with 95 % interval over cases:\n{}",
               FusionDifferences(result).ToText());
  }
  if (!result.files.empty())
    fmt::print("\nwrote {} to {}\n",
               Counted(std::ssize(result.files), "segmentation"),
               given.pipelines.empty() ? given.output : given.output + "/fused");
}

void CheckArguments(const FuseArguments& given) {
  const bool only_votes = given.output.empty() && given.models.empty() && given.pipelines.empty();
  if (!given.votes.empty() && !only_votes)
    Throw(ErrorCode::kInvalidArgument,
          "--votes writes the candidates as a data set and nothing else; -o, -c and -p do not go "
          "with it");
  if (!given.pipelines.empty() && !given.models.empty())
    Throw(ErrorCode::kInvalidArgument, "-p fits pipelines, -c takes models: give one of both");
  if (!given.pipelines.empty() && given.output.empty())
    Throw(ErrorCode::kInvalidArgument, "-p needs -o: a folder for votes, models and segmentations");
}

void Run(const FuseArguments& given) {
  CheckArguments(given);
  FuseOptions options = given.options;
  options.run = given.run.Make();
  AdviseOnInterrupt([folder = given.output] {
    return folder.empty() ? std::string("nothing was written")
                          : folder + " is empty again; the same command starts anew";
  });
  const Dataset dataset = LoadDataset(given.dataset);
  if (!given.votes.empty()) {
    const Dataset votes = WriteVotes(dataset, given.votes, options.run);
    EndProgress(&options.run);
    return PrintVotes(given, votes);
  }
  const FuseResult result = given.pipelines.empty()
                                ? Fuse(dataset, LoadAll(given.models), given.output, options)
                                : FuseStudy(dataset, given.pipelines, given.output, options);
  EndProgress(&options.run);
  ReportSkipped(result.skipped);
  if (given.json) {
    fmt::print("{}", ToJson(result));
    return;
  }
  PrintResult(given, result);
}

std::vector<std::string> FusionNames() {
  std::vector<std::string> names;
  for (const FusionDescription& method : ListFusions()) names.push_back(method.name);
  return names;
}

std::string FuseFooter() {
  std::string text = "Methods:\n";
  for (const FusionDescription& method : ListFusions())
    text += fmt::format("  {:<11} {}\n", method.name, method.summary);
  text +=
      "Members of the data set are the candidates: class probabilities, or with the field "
      "\"candidates\" in\n"
      "every case, label maps whose members say how likely each is right. Labelled cases are "
      "measured, and two\n"
      "bounds beside them: best calibration and best fusion look at the labels.\n\n";
  text +=
      "Examples:\n  segcal fuse atlases -o fused\n"
      "  segcal fuse atlases -p 'ts(z),ibts(z),lts(z)' -o study       does calibration help?\n"
      "  segcal fuse atlases --votes votes && segcal fit votes -p 'ts(z)' -o ts.json\n"
      "  segcal fuse atlases -m svwv -c ts.json --split test -o fused";
  return text;
}

}  // namespace

Action SetUpFuse(CLI::App& app) {
  auto given = std::make_shared<FuseArguments>();
  FuseOptions& options = given->options;
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json")
      ->required();
  app.add_option("-m,--method", options.method, "How to fuse")
      ->check(CLI::IsMember(FusionNames()))
      ->capture_default_str();
  app.add_option(
      "-c,--calibrator", given->models, "Model files, or folders of them, that calibrate votes");
  app.add_option("-p,--pipelines",
                 given->pipelines,
                 "Pipelines to fit on the votes of split calibration and to compare on split test")
      ->delimiter(',');
  app.add_option("-o,--output", given->output, "Folder to write, new or empty");
  app.add_option("--votes",
                 given->votes,
                 "Write the candidates to this folder as a data set to fit calibrators on");
  app.add_option(
      "--split", options.split, "Only the cases of this split (default: all cases; with -p: test)");
  app.add_option("--ridge", options.ridge, "jlf: added to the diagonal, as a multiple of its mean")
      ->capture_default_str();
  app.add_flag("--clip", options.clip, "jlf: negative weights become 0");
  app.add_option("--tolerance", options.tolerance, "Of the surface Dice score, in spacing units")
      ->capture_default_str();
  app.add_option("--format", options.format, "Of the segmentations (default: by the data)")
      ->check(CLI::IsMember({"npy", "npz", "nifti", "png"}));
  app.add_option("--seed", options.seed, "Of fits and intervals")->capture_default_str();
  app.add_option("--table", given->table, "Form of the printed table")
      ->check(CLI::IsMember({"text", "markdown", "latex", "csv"}))
      ->capture_default_str();
  app.add_flag("--json", given->json, "Print the result as JSON");
  AddRunFlags(app, &given->run);
  app.footer(FuseFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
