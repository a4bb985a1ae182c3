// SPDX-License-Identifier: Apache-2.0
#include "cli/print_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/command.h"
#include "segcal/tables.h"

namespace segcal::cli {
namespace {

void PrintData(const Model& model) {
  const FittedData& data = model.report().data;
  fmt::print("  fitted on {}: {}{}, {} labelled voxels of {}\n",
             data.name,
             Counted(data.cases, "case"),
             data.members > 0 ? " of " + Counted(data.members, "member") : "",
             HumanCount(data.labelled),
             HumanCount(data.voxels));
}

void PrintSearch(const SearchReport& search) {
  if (search.trials.empty()) return;
  fmt::print("  chosen of {} trials:", search.trials.size());
  for (const auto& [key, value] : search.chosen) fmt::print(" {}={}", key, value);
  fmt::print("\n");
}

// How far the fit is from its optimum at most, over its experts.
void PrintCertificate(const FitReport& fit) {
  double residual = 0.0;
  for (const Certificate& certificate : fit.certificates)
    residual = std::max(residual, certificate.gradient);
  fmt::print("  {} in {}", Name(fit.status), Counted(fit.passes, "pass", "es"));
  if (!fit.certificates.empty()) fmt::print(", optimality residual {:.1e}", residual);
  fmt::print("\n");
}

void PrintTraining(const TrainingReport& training) {
  if (training.epochs == 0) return;
  fmt::print("  epoch {} of {}, stopped by {}; validation loss {:.5f} -> {:.5f}\n",
             training.best_epoch,
             training.epochs,
             Name(training.stopped_by),
             training.start_nll,
             training.validation_nll);
}

void PrintFit(const Model& model) {
  const FitReport& fit = model.report();
  if (fit.data.cases == 0) {
    fmt::print("  not fitted\n");
    return;
  }
  PrintData(model);
  fmt::print("  NLL {:.5f} -> {:.5f}\n", fit.nll_before, fit.nll_after);
  if (const std::optional<double> beta = model.inverse_temperature())
    fmt::print("  temperature {:.6g} (beta {:.6g})\n", 1.0 / *beta, *beta);
  PrintSearch(fit.search);
  PrintCertificate(fit);
  PrintTraining(fit.training);
  for (const auto& [name, value] : fit.figures) fmt::print("  {} {:.4g}\n", name, value);
}

std::string TemperatureCell(const Model& model) {
  const std::optional<double> beta = model.inverse_temperature();
  return beta ? fmt::format("{:.4g}", 1.0 / *beta) : "";
}

}  // namespace

void PrintModel(const Model& model) {
  const ParameterCounts counts = model.parameter_counts();
  fmt::print("{}: {}, takes {}\n",
             model.pipeline(),
             Counted(std::ssize(model.classes()), "class", "es"),
             Name(model.input()));
  PrintFit(model);
  fmt::print(
      "  parameters: {} optimised, {} identifiable\n", counts.optimised, counts.identifiable);
  fmt::print("  translation invariant: {}; preserves: {}\n",
             model.translation_invariant() ? "yes" : "no",
             Name(model.preserves()));
}

void PrintModels(const std::vector<Model>& models) {
  Table table({{.header = "file", .align = Align::kLeft},
               {.header = "pipeline", .align = Align::kLeft},
               {.header = "data", .align = Align::kLeft},
               {.header = "members", .align = Align::kRight},
               {.header = "NLL before", .align = Align::kRight},
               {.header = "after", .align = Align::kRight},
               {.header = "temperature", .align = Align::kRight},
               {.header = "fit", .align = Align::kLeft},
               {.header = "invariant", .align = Align::kLeft},
               {.header = "preserves", .align = Align::kLeft}});
  for (const Model& model : models) {
    const FitReport& fit = model.report();
    const bool fitted = fit.data.cases > 0;
    table.AddRow(
        {std::filesystem::path(model.file()).filename().string(),
         model.pipeline(),
         fitted ? fmt::format("{}, {}", fit.data.name, Counted(fit.data.cases, "case")) : "",
         fit.data.members > 0 ? fmt::format("{}", fit.data.members) : "",
         NumberCell(fitted ? fit.nll_before : std::nan(""), 5),
         NumberCell(fitted ? fit.nll_after : std::nan(""), 5),
         TemperatureCell(model),
         fitted ? Name(fit.status) : "not fitted",
         model.translation_invariant() ? "yes" : "no",
         Name(model.preserves())});
  }
  fmt::print("{}", table.ToText());
}

}  // namespace segcal::cli
