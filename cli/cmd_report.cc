// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "segcal/files.h"
#include "segcal/report.h"

namespace segcal::cli {
namespace {

struct ReportArguments {
  std::string folder;
  std::string output;
  ReportOptions options;
  bool force = false;
  RunFlags run;
};

void Run(const ReportArguments& given) {
  ReportOptions options = given.options;
  options.run = given.run.Make();
  OutputCheck(given.force).Writes(given.output, FileKind::kPage);
  CreateParentFolder(given.output);
  const ReportResult result = MakeReport(given.folder, options);
  EndProgress(&options.run);
  if (!result.missing.empty()) Warn("no case explorer: " + result.missing);
  WriteText(given.output, result.html);
  fmt::print("wrote {} ({:.1f} MB, {} to look at)\n",
             given.output,
             static_cast<double>(result.html.size()) / 1e6,
             Counted(result.explored, "case"));
}

}  // namespace

Action SetUpReport(CLI::App& app) {
  auto given = std::make_shared<ReportArguments>();
  app.add_option("folder", given->folder, "Folder of a study, as compare writes it")->required();
  app.add_option("-o,--output", given->output, "Page to write (HTML)")->required();
  app.add_option("--dataset",
                 given->options.dataset,
                 "Data set of the study, where it is no longer where it was");
  app.add_option("--cases",
                 given->options.cases,
                 "Cases to look at: typical, best, worst, most flipped, then others; 0: none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--case", given->options.case_ids, "Case to look at instead; several times")
      ->allow_extra_args(false);
  AddForce(app, &given->force);
  AddRunFlags(app, &given->run);
  app.footer(
      "One file that shows what compare found: the verdict and what would void it, a table to sort "
      "and\n"
      "filter, matched comparisons, figures, and cases to look at. It needs no network and no "
      "other "
      "file.\n\n"
      "Examples:\n  segcal report run -o report.html\n"
      "  segcal report run -o report.html --cases 20\n"
      "  segcal report run -o report.html --dataset camvid --case 0001TP_008580");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
