// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/part_flags.h"
#include "cli/print_dataset.h"
#include "cli/print_model.h"
#include "cli/ranks.h"
#include "cli/throw.h"
#include "segcal/figures.h"
#include "segcal/files.h"
#include "segcal/inspect.h"
#include "segcal/parts.h"

namespace segcal::cli {
namespace {

struct InspectArguments {
  std::string path;
  std::string split;
  std::string figures;
  std::vector<std::string> pictures;
  PartFlags part;
  RunFlags run;
  bool force = false;
  bool json = false;
};

std::string FigureFile(const InspectArguments& given) {
  return (std::filesystem::path(given.figures) / "free_energy.svg").string();
}

// Before the work.
void CheckOutputs(const InspectArguments& given, const Dataset& dataset) {
  // An unknown case is told before the work.
  for (const std::string& id : given.pictures) CheckPicture(dataset, id);
  OutputCheck check(given.force);
  check.Reads(dataset);
  CheckPartFile(given.part, &check);
  if (given.figures.empty()) return;
  if (dataset.input != InputKind::kLogits) {
    Throw(ErrorCode::kInvalidArgument,
          "--figures: {} holds {}, whose free energy is zero: there is nothing to draw",
          given.path,
          Name(*dataset.input));
  }
  check.Writes(FigureFile(given), FileKind::kFigure);
}

void WriteFigures(const InspectArguments& given,
                  const Dataset& dataset,
                  const DatasetSummary& summary) {
  NewFolders folders;
  folders.Make(given.figures);
  const std::string figure =
      FreeEnergyFigure(dataset, summary, {.run = given.run.Make(), .case_ids = given.pictures});
  WriteText(FigureFile(given), figure);
}

// A folder that holds no data set but model files.
bool IsModelFolder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;  // opening it says what is wrong
  if (fs::exists(fs::path(path) / "dataset.json", error)) return false;
  const fs::directory_iterator files(path, error);
  if (error) return false;
  return std::any_of(begin(files), end(files), [](const fs::directory_entry& entry) {
    return HoldsKind(entry.path().string(), FileKind::kModel);
  });
}

void ShowModels(const InspectArguments& given) {
  if (!given.figures.empty())
    Throw(ErrorCode::kInvalidArgument, "--figures: {} is a model; give a data set", given.path);
  if (given.part.given())
    Throw(ErrorCode::kInvalidArgument, "--part: {} is a model; give a data set", given.path);
  const std::vector<Model> models = LoadModels(given.path);
  if (given.json) {
    std::vector<std::string> texts;
    for (const Model& model : models) texts.push_back(model.ToJson());
    const bool single = HoldsKind(given.path, FileKind::kModel);
    fmt::print("{}", single ? texts[0] : fmt::format("[\n{}]\n", fmt::join(texts, ",\n")));
    return;
  }
  if (HoldsKind(given.path, FileKind::kModel)) {
    PrintModel(models[0]);
    for (const std::string& warning : models[0].report().warnings) Warn(warning);
    fmt::print("All of it, parameters too: --json\n");
  } else {
    PrintModels(models);
  }
}

// All cases, whoever looks at them; nothing where another process has the result.
std::optional<DatasetSummary> InspectAll(const Dataset& dataset, const RunOptions& options) {
  if (!IsOneOfMany()) return Inspect(dataset, options);
  return MergeRanks(InspectPart(dataset, options, OwnPart()), MergeInspect);
}

void Run(const InspectArguments& given) {
  CheckPartFlags(given.part);
  if (HoldsKind(given.path, FileKind::kModel) || IsModelFolder(given.path))
    return ShowModels(given);
  const Dataset whole = LoadDataset(given.path);
  const Dataset dataset = given.split.empty() ? whole : SelectSplit(whole, given.split);
  CheckOutputs(given, dataset);
  RunOptions options = given.run.Make();
  if (given.part.given()) {
    const PartState state = InspectPart(dataset, options, given.part.Parse());
    EndProgress(&options);
    return SavePart(given.part, state);
  }
  const std::optional<DatasetSummary> inspected = InspectAll(dataset, options);
  if (!inspected) return;
  const DatasetSummary& summary = *inspected;
  EndProgress(&options);
  ReportSkipped(summary.skipped);
  if (!given.figures.empty()) WriteFigures(given, dataset, summary);
  if (given.json) {
    fmt::print("{}", ToJson(summary));
    return;
  }
  PrintDataset(summary);
  if (!given.figures.empty()) fmt::print("wrote {}/free_energy.svg\n", given.figures);
}

}  // namespace

Action SetUpInspect(CLI::App& app) {
  auto given = std::make_shared<InspectArguments>();
  app.add_option("path", given->path, "Data set file or folder, or model file or a folder of them")
      ->required();
  app.add_option("--split", given->split, "Only the cases of this split");
  CLI::Option* figures =
      app.add_option("--figures", given->figures, "Folder for free_energy.svg, maps of F");
  app.add_option(
         "--picture", given->pictures, "Case to draw; several times (default: the first six)")
      ->allow_extra_args(false)
      ->needs(figures);
  AddForce(app, &given->force);
  CLI::Option* json = app.add_flag("--json", given->json, "Print as JSON");
  AddPartFlags(app, &given->part, {figures, json});
  AddRunFlags(app, &given->run);
  app.footer(
      "Examples:\n  segcal inspect camvid/dataset.json\n"
      "  segcal inspect camvid --split test --figures figures\n  segcal inspect ts.json\n"
      "  segcal inspect models\n"
      "  segcal inspect camvid --part 3/10 --state parts/3.part");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
