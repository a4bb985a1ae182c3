// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "core/json.h"
#include "pipeline/model.h"
#include "report/table.h"
#include "segcal/inspect.h"

namespace segcal::cli {
namespace {

struct Arguments {
  std::string path;
  std::string split;
  RunFlags run;
  bool json = false;
};

// A folder, or a file that says it is a data set.
bool IsModel(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return false;
  const Json json = ReadJson(path);
  return json.is_object() && json.contains("segcal_model");
}

std::string Percent(int64_t part, int64_t whole) {
  return whole == 0 ? "–"
                    : fmt::format("{:.2f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// Linear interpolation between order statistics, as NumPy's default.
double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(std::floor(at));
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - std::floor(at)) * (values[high] - values[low]);
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
  for (const CaseSummary& c : summary.cases) {
    table.AddRow({c.id,
                  c.split,
                  fmt::format("{}", fmt::join(c.shape, "x")),
                  c.dtype,
                  HumanCount(c.labelled),
                  NumberCell(c.accuracy, 4),
                  NumberCell(c.free_energy_mean, 3),
                  NumberCell(c.free_energy_std, 3)});
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

void PrintWarnings(const DatasetSummary& summary) {
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
  fmt::print("{}: {} cases, {} members of {}, {} classes, {} voxels ({} labelled)\n\n",
             dataset.name,
             summary.cases.size(),
             dataset.cases.empty() ? 0 : dataset.cases[0].members.size(),
             dataset.input,
             dataset.classes.size(),
             HumanCount(summary.voxels),
             HumanCount(summary.labelled));
  PrintCases(summary);
  PrintClasses(dataset, summary);
  std::vector<double> spread;
  for (const CaseSummary& c : summary.cases) {
    if (std::isfinite(c.free_energy_std)) spread.push_back(c.free_energy_std);
  }
  if (spread.empty()) return PrintWarnings(summary);
  double mean = 0.0;
  for (const double s : spread) mean += s / static_cast<double>(spread.size());
  fmt::print(
      "Free energy F = log sum exp z of the mean logits, spatial standard deviation per case: mean "
      "{:.2f} [{:.2f}, {:.2f}, {:.2f}]\n",
      mean,
      Quantile(spread, 0.25),
      Quantile(spread, 0.5),
      Quantile(spread, 0.75));
  PrintWarnings(summary);
}

Json DatasetJson(const Dataset& dataset, const DatasetSummary& summary) {
  Json json = {{"name", dataset.name},
               {"classes", dataset.classes},
               {"input", dataset.input},
               {"voxels", summary.voxels},
               {"labelled", summary.labelled},
               {"label_counts", summary.label_counts},
               {"decision_counts", summary.decision_counts},
               {"repeated", summary.repeated},
               {"repeated_example", summary.repeated_example},
               {"renormalised", summary.renormalised},
               {"skipped", summary.skipped},
               {"cases", Json::array()}};
  for (const CaseSummary& c : summary.cases) {
    json["cases"].push_back({{"id", c.id},
                             {"split", c.split},
                             {"shape", c.shape},
                             {"dtype", c.dtype},
                             {"labelled", c.labelled},
                             {"accuracy", JsonNumber(c.accuracy)},
                             {"free_energy_mean", JsonNumber(c.free_energy_mean)},
                             {"free_energy_std", JsonNumber(c.free_energy_std)}});
  }
  return json;
}

void PrintModel(const Model& model) {
  const ModelState& state = model.state();
  const ParameterCounts counts =
      state.calibrator->counts(static_cast<int64_t>(model.classes().size()));
  fmt::print("{}: {} classes, takes {}\n", model.pipeline(), model.classes().size(), model.input());
  fmt::print("  translation invariant: {}; preserves: {}\n",
             model.translation_invariant() ? "yes" : "no",
             model.preserves());
  fmt::print(
      "  parameters: {} optimised, {} identifiable\n", counts.optimised, counts.identifiable);
  fmt::print("{}", model.ToJson());
}

void Run(const Arguments& given) {
  if (IsModel(given.path)) {
    const Model model = Model::Load(given.path);
    if (given.json) {
      fmt::print("{}", model.ToJson());
    } else {
      PrintModel(model);
    }
    return;
  }
  const Dataset whole = LoadDataset(given.path);
  const Dataset dataset = given.split.empty() ? whole : SelectSplit(whole, given.split);
  RunOptions options = given.run.Make();
  const DatasetSummary summary = Inspect(dataset, options);
  options.progress = {};
  ReportSkipped(summary.skipped);
  if (given.json) {
    fmt::print("{}", DumpJson(DatasetJson(dataset, summary)));
  } else {
    PrintDataset(dataset, summary);
  }
}

}  // namespace

Action SetUpInspect(CLI::App& app) {
  auto given = std::make_shared<Arguments>();
  app.add_option("path", given->path, "Data set file or folder, or model file")->required();
  app.add_option("--split", given->split, "Only the cases of this split");
  app.add_flag("--json", given->json, "Print as JSON");
  AddRunFlags(app, &given->run);
  app.footer("Examples:\n  segcal inspect camvid/dataset.json\n  segcal inspect ts.json");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
