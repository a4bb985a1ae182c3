// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/print_model.h"
#include "cli/throw.h"
#include "segcal/figures.h"
#include "segcal/files.h"
#include "segcal/inspect.h"
#include "segcal/tables.h"

namespace segcal::cli {
namespace {

struct InspectArguments {
  std::string path;
  std::string split;
  std::string figures;
  std::vector<std::string> pictures;
  RunFlags run;
  bool force = false;
  bool json = false;
};

std::string Percent(int64_t part, int64_t whole) {
  return whole == 0 ? "–"
                    : fmt::format("{:.2f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void PrintCases(const DatasetSummary& summary) {
  Table table({{.header = "case", .align = Align::kLeft},
               {.header = "split", .align = Align::kLeft},
               {.header = "shape", .align = Align::kLeft},
               {.header = "type", .align = Align::kLeft},
               {.header = "labelled", .align = Align::kRight},
               {.header = "accuracy", .align = Align::kRight},
               {.header = "mean F", .align = Align::kRight},
               {.header = "std F", .align = Align::kRight}});
  // Of probabilities it is zero, up to rounding.
  const bool has_energy = summary.input == InputKind::kLogits;
  for (const CaseSummary& c : summary.cases) {
    table.AddRow({c.id,
                  c.split,
                  fmt::format("{}", fmt::join(c.shape, "x")),
                  c.dtype,
                  HumanCount(c.labelled),
                  NumberCell(c.accuracy, 4),
                  NumberCell(has_energy ? c.free_energy_mean : 0.0, 3),
                  NumberCell(has_energy ? c.free_energy_std : 0.0, 3)});
  }
  fmt::print("{}\n", table.ToText());
}

void PrintClasses(const Dataset& dataset, const DatasetSummary& summary) {
  Table table({{.header = "class", .align = Align::kLeft},
               {.header = "labels", .align = Align::kRight},
               {.header = "share", .align = Align::kRight},
               {.header = "predicted", .align = Align::kRight}});
  for (size_t c = 0; c < dataset.classes.size(); ++c) {
    table.AddRow({dataset.classes[c],
                  HumanCount(summary.label_counts[c]),
                  Percent(summary.label_counts[c], summary.labelled),
                  Percent(summary.decision_counts[c], summary.voxels)});
  }
  fmt::print("{}\n", table.ToText());
}

void PrintFreeEnergy(const DatasetSummary& summary) {
  if (summary.input != InputKind::kLogits) {
    fmt::print("The free energy of {} is zero: there is no offset to look at.\n\n",
               Name(summary.input));
    return;
  }
  Table table({{.header = "members", .align = Align::kRight},
               {.header = "cases", .align = Align::kRight},
               {.header = "mean std F", .align = Align::kRight},
               {.header = "p25", .align = Align::kRight},
               {.header = "p50", .align = Align::kRight},
               {.header = "p75", .align = Align::kRight}});
  for (const FreeEnergySpread& spread : summary.free_energy) {
    table.AddRow({fmt::format("{}", spread.members),
                  fmt::format("{}", spread.cases),
                  NumberCell(spread.mean, 2),
                  NumberCell(spread.quartiles[0], 2),
                  NumberCell(spread.quartiles[1], 2),
                  NumberCell(spread.quartiles[2], 2)});
  }
  fmt::print(
      "Free energy F = log sum exp z of the mean logits of the first members: its spatial "
      "standard\n"
      "deviation, mean and quartiles over cases. What varies here a calibrator can take for a "
      "signal\nunless it is translation invariant.\n\n{}\n",
      table.ToText());
}

void PrintMethods(const DatasetSummary& summary) {
  Table table({{.header = "method", .align = Align::kLeft},
               {.header = "optimised", .align = Align::kRight},
               {.header = "identifiable", .align = Align::kRight},
               {.header = "translation invariant", .align = Align::kLeft},
               {.header = "preserves", .align = Align::kLeft}});
  for (const MethodSummary& method : summary.methods) {
    table.AddRow({method.name,
                  fmt::format("{}", method.optimised),
                  fmt::format("{}", method.identifiable),
                  method.translation_invariant ? "yes" : "only with p",
                  Name(method.preserves)});
  }
  fmt::print(
      "Parameters of each method for {} classes.\n\n{}\n", summary.classes.size(), table.ToText());
}

void PrintWarnings(const DatasetSummary& summary) {
  for (const std::string& warning : summary.warnings) fmt::print("warning: {}\n", warning);
  if (100 * summary.repeated > summary.voxels) {
    std::vector<double> head = summary.repeated_example;
    const bool cut = head.size() > 8;
    if (cut) head.resize(8);
    fmt::print(
        "warning: {} of the voxels lie in runs of exactly equal predictions, for example logits "
        "({:.4g}{}): a fill outside a "
        "crop?\n         Name a mask per case that is zero there.\n",
        Percent(summary.repeated, summary.voxels),
        fmt::join(head, ", "),
        cut ? ", ..." : "");
  }
  if (summary.renormalised > 0) {
    fmt::print("warning: {} probability rows did not sum to one within 1e-3\n",
               summary.renormalised);
  }
  for (size_t c = 0; c < summary.label_counts.size(); ++c) {
    if (summary.label_counts[c] == 0 && summary.labelled > 0)
      fmt::print("warning: no voxel is labelled as class {}\n", c);
  }
}

void PrintDataset(const Dataset& dataset, const DatasetSummary& summary) {
  const int64_t members = dataset.cases.empty() ? 0 : std::ssize(dataset.cases[0].members);
  fmt::print("{}: {}, {} of {}, {}, {} voxels ({} labelled)\n\n",
             dataset.name,
             Counted(std::ssize(summary.cases), "case"),
             Counted(members, "member"),
             Name(*dataset.input),
             Counted(dataset.num_classes(), "class", "es"),
             HumanCount(summary.voxels),
             HumanCount(summary.labelled));
  PrintCases(summary);
  PrintClasses(dataset, summary);
  PrintFreeEnergy(summary);
  PrintMethods(summary);
  PrintWarnings(summary);
}

std::string FigureFile(const InspectArguments& given) {
  return (std::filesystem::path(given.figures) / "free_energy.svg").string();
}

// Before the work.
void CheckFigures(const InspectArguments& given, const Dataset& dataset) {
  // An unknown case is told before the work.
  for (const std::string& id : given.pictures) CheckPicture(dataset, id);
  if (given.figures.empty()) return;
  if (dataset.input != InputKind::kLogits) {
    Throw(ErrorCode::kInvalidArgument,
          "--figures: {} holds {}, whose free energy is zero: there is nothing to draw",
          given.path,
          Name(*dataset.input));
  }
  OutputCheck check(given.force);
  check.Reads(dataset);
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

void Run(const InspectArguments& given) {
  if (HoldsKind(given.path, FileKind::kModel) || IsModelFolder(given.path))
    return ShowModels(given);
  const Dataset whole = LoadDataset(given.path);
  const Dataset dataset = given.split.empty() ? whole : SelectSplit(whole, given.split);
  CheckFigures(given, dataset);
  RunOptions options = given.run.Make();
  const DatasetSummary summary = Inspect(dataset, options);
  EndProgress(&options);
  ReportSkipped(summary.skipped);
  if (!given.figures.empty()) WriteFigures(given, dataset, summary);
  if (given.json) {
    fmt::print("{}", ToJson(summary));
    return;
  }
  PrintDataset(dataset, summary);
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
  app.add_flag("--json", given->json, "Print as JSON");
  AddRunFlags(app, &given->run);
  app.footer(
      "Examples:\n  segcal inspect camvid/dataset.json\n"
      "  segcal inspect camvid --split test --figures figures\n  segcal inspect ts.json\n"
      "  segcal inspect models");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
