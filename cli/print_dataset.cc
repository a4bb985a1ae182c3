// SPDX-License-Identifier: Apache-2.0
#include "cli/print_dataset.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "segcal/tables.h"

namespace segcal::cli {
namespace {

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

void PrintClasses(const DatasetSummary& summary) {
  Table table({{.header = "class", .align = Align::kLeft},
               {.header = "labels", .align = Align::kRight},
               {.header = "share", .align = Align::kRight},
               {.header = "predicted", .align = Align::kRight}});
  for (size_t c = 0; c < summary.classes.size(); ++c) {
    table.AddRow({summary.classes[c],
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

}  // namespace

void PrintDataset(const DatasetSummary& summary) {
  fmt::print("{}: {}, {} of {}, {}, {} voxels ({} labelled)\n\n",
             summary.name,
             Counted(std::ssize(summary.cases), "case"),
             Counted(std::ssize(summary.free_energy), "member"),
             Name(summary.input),
             Counted(std::ssize(summary.classes), "class", "es"),
             HumanCount(summary.voxels),
             HumanCount(summary.labelled));
  PrintCases(summary);
  PrintClasses(summary);
  PrintFreeEnergy(summary);
  PrintMethods(summary);
  PrintWarnings(summary);
}

}  // namespace segcal::cli
