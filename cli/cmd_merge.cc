// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/evaluation_output.h"
#include "cli/print_applied.h"
#include "cli/print_dataset.h"
#include "cli/throw.h"
#include "segcal/parts.h"

namespace segcal::cli {
namespace {

struct MergeArguments {
  std::vector<std::string> parts;
  EvaluationOutput out;
  int threads = 0;
};

std::vector<PartState> LoadParts(const std::vector<std::string>& paths) {
  std::vector<PartState> parts;
  parts.reserve(paths.size());
  for (const std::string& path : paths) parts.push_back(PartState::Load(path));
  return parts;
}

void CheckFiles(const MergeArguments& given) {
  OutputCheck check(given.out.force);
  for (const std::string& path : given.parts) check.Reads(path);
  CheckTables(given.out, &check);
}

void ShowMerged(const MergeArguments& given, const std::vector<PartState>& parts) {
  EvaluateResult result = MergeEvaluate(parts);
  const std::vector<std::string> families = parts.front().families();
  CheckSort(given.out.sort, {.run = {}, .split = {}, .metrics = {}, .families = families});
  if (!given.out.cells.empty() && CellsCsv(result).find('\n') + 1 == CellsCsv(result).size()) {
    Throw(ErrorCode::kInvalidArgument,
          "--cells: the parts did not keep them; evaluate with --keep-cells does");
  }
  RunOptions run;
  run.threads = given.threads;
  AddStatistics(given.out, families, run, &result);
  ReportEvaluation(result);
  const std::vector<std::string> files = WriteTables(given.out, result);
  ShowEvaluation(given.out, result, families, files);
}

// Parts of inspect and apply leave nothing to write: what they print is the result.
void CheckPrintsOnly(const EvaluationOutput& out, PartJob job) {
  const bool writes = !out.output.empty() || !out.csv.empty() || !out.cells.empty();
  if (!writes) return;
  Throw(ErrorCode::kInvalidArgument,
        "-o, --csv and --cells are for parts of evaluate; the result of {} is printed, with --json "
        "as JSON",
        Name(job));
}

void Run(const MergeArguments& given) {
  CheckFiles(given);
  const std::vector<PartState> parts = LoadParts(given.parts);
  const PartJob job = parts.front().job();
  if (job == PartJob::kEvaluate) return ShowMerged(given, parts);
  CheckPrintsOnly(given.out, job);
  if (job == PartJob::kApply) return PrintApplied(MergeApply(parts), "", given.out.json);
  const DatasetSummary summary = MergeInspect(parts);
  ReportSkipped(summary.skipped);
  if (given.out.json) {
    fmt::print("{}", ToJson(summary));
  } else {
    PrintDataset(summary);
  }
}

}  // namespace

Action SetUpMerge(CLI::App& app) {
  auto given = std::make_shared<MergeArguments>();
  app.add_option("part",
                 given->parts,
                 "What --part left in --state: all parts of one evaluate, apply or inspect, in any "
                 "order")
      ->required();
  AddEvaluationOutput(app, &given->out);
  app.add_option("--threads", given->threads, "Of --statistics; 0 is all cores")
      ->check(CLI::Range(0, 1024));
  app.footer(
      "The result is the one that a single process would have given, byte for byte.\n"
      "Parts are missing, given twice, damaged, or of another data set, model or option: a message "
      "names them.\n\n"
      "Examples:\n"
      "  for i in 1 2 3; do\n"
      "    segcal evaluate camvid -m ts.json --split test --part $i/3 --state parts/$i.part\n"
      "  done\n"
      "  segcal merge parts/*.part -o metrics.json --statistics");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
