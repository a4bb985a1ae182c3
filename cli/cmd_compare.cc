// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/ranks.h"
#include "cli/throw.h"
#include "segcal/compare.h"
#include "segcal/files.h"
#include "segcal/methods.h"
#include "segcal/parts.h"
#include "segcal/study_tables.h"

namespace segcal::cli {
namespace {

struct CompareArguments {
  std::string dataset;
  std::string output;
  std::string split;
  std::vector<std::string> pairs;
  std::vector<std::string> shifts;
  std::vector<int64_t> patches;
  std::string select = "validation";
  std::string preserve = "argmax";
  std::string objective = "ours";
  bool allow_offsets = false;
  CompareOptions options;
  std::string part;
  RunFlags run;
  bool json = false;
};

// "50,27,194": numbers, or proportions.
std::vector<double> ParseParts(const std::string& text) {
  std::vector<double> numbers;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, comma - begin);
    char* end = nullptr;
    const double number = std::strtod(item.c_str(), &end);
    if (item.empty() || *end != '\0' || !(number > 0.0)) {
      Throw(ErrorCode::kInvalidArgument,
            "--split {}: three positive numbers are required, for example 50,27,194 or 0.4,0.2,0.4",
            text);
    }
    numbers.push_back(number);
    begin = comma + 1;
  }
  return numbers;
}

std::pair<std::string, std::string> ParseNamed(const std::string& flag,
                                               const std::string& text,
                                               const char* form) {
  // Pipelines may have options: the = that counts is outside of brackets.
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == '=' && depth == 0 && i > 0 && i + 1 < text.size())
      return {text.substr(0, i), text.substr(i + 1)};
  }
  Throw(ErrorCode::kInvalidArgument, "{} {}: {} is required", flag, text, form);
}

std::string DatasetFile(const std::string& path) {
  const auto absolute = std::filesystem::absolute(path).lexically_normal();
  return (std::filesystem::is_directory(absolute) ? absolute / "dataset.json" : absolute).string();
}

CompareOptions MakeOptions(const CompareArguments& given, StudyRun* run) {
  CompareOptions options = given.options;
  options.run = given.run.Make();
  options.folder = given.output;
  if (!given.split.empty() && given.split != "own") options.split = ParseParts(given.split);
  if (given.split == "own") options.repeats = 1;
  options.select = ParseSelection(given.select);
  options.paper_objective = given.objective == "paper";
  options.recommend.preserves = ParsePreserves(given.preserve);
  options.recommend.translation_invariant = !given.allow_offsets;
  for (const std::string& text : given.pairs) {
    const auto [first, second] = ParseNamed("--pair", text, "FIRST=SECOND");
    options.pairs.push_back({first, second});
  }
  for (const std::string& text : given.shifts) {
    const auto [name, path] = ParseNamed("--shift", text, "NAME=DATASET");
    options.shifts.push_back({name, LoadDataset(path)});
    run->shifts.emplace_back(name, DatasetFile(path));
  }
  if (!given.patches.empty())
    options.metrics["local"]["patch_sweep"] = fmt::format("{}", fmt::join(given.patches, ","));
  return options;
}

// As it was typed, with quotes where a shell needs them.
std::string CommandLine() {
  std::string all;
  if (std::FILE* file = std::fopen("/proc/self/cmdline", "rb")) {
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) all += static_cast<char>(c);
    std::fclose(file);
  }
  std::string line;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\0', begin), all.size());
    const std::string word = all.substr(begin, end - begin);
    const bool plain = word.find_first_of(" ()'\"*?$&;|<>") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
    begin = end + 1;
  }
  return line;
}

std::string WhatIsStored(const std::string& folder) {
  return fmt::format("finished units are complete in {}; the same command with --resume goes on",
                     (std::filesystem::path(folder) / "units").string());
}

void WarnOfFailures(const std::vector<StudyFailure>& failures) {
  for (const StudyFailure& failure : failures)
    Warn(fmt::format("{} failed ({}): {}", failure.pipeline, failure.stage, failure.reason));
}

void PrintRecommendation(const Recommendation& recommendation, const CompareArguments& given) {
  if (recommendation.pipeline.empty()) {
    fmt::print("\nNothing can be recommended.\n");
  } else {
    fmt::print("\nRecommended: {}\n", recommendation.pipeline);
  }
  for (const std::string& reason : recommendation.reasons) fmt::print("  {}\n", reason);
  if (!recommendation.commands.empty()) {
    for (const std::string& command : RecommendedCommands(given.output, given.dataset))
      fmt::print("  $ {}\n", command);
  }
  for (const std::string& warning : recommendation.warnings) Warn(warning);
  fmt::print("\nwrote {}\n", given.output);
}

// The share of one process; the study itself comes at the end.
void RunPart(const CompareArguments& given, CompareOptions options, const Dataset& dataset) {
  const Part part = ParsePart(given.part);
  if (given.json) {
    Throw(ErrorCode::kInvalidArgument,
          "--json does not go with --part: the study is made by the same command with --resume "
          "and without --part");
  }
  const StudyPart done = ComparePart(dataset, options, part);
  EndProgress(&options.run);
  for (const std::string& warning : done.warnings) Warn(warning);
  WarnOfFailures(done.failures);
  fmt::print(
      "part {} of compare: {} complete in {}\n"
      "When all parts are done, the same command with --resume and without --part makes the "
      "study of them.\n",
      Name(part),
      Counted(done.units, "unit"),
      (std::filesystem::path(given.output) / "units").string());
}

void Run(const CompareArguments& given, const std::string& command) {
  StudyRun run{.dataset = DatasetFile(given.dataset), .command = command};
  CompareOptions options = MakeOptions(given, &run);
  const Dataset dataset = LoadDataset(given.dataset);
  OutputCheck().WritesInto(given.output);
  AdviseOnInterrupt([folder = given.output] { return WhatIsStored(folder); });
  if (!given.part.empty()) return RunPart(given, std::move(options), dataset);
  if (IsOneOfMany()) {
    ComparePart(dataset, options, OwnPart());
    OwnRanks().gather({});  // all units are there
    if (!IsFirstRank()) return;
    options.resume = true;
  }
  const Study study = Compare(dataset, options);
  EndProgress(&options.run);
  WriteStudy(given.output, study);
  WriteText((std::filesystem::path(given.output) / "run.json").string(), ToJson(run));
  for (const std::string& warning : study.warnings) Warn(warning);
  WarnOfFailures(study.failures);
  if (given.json) {
    fmt::print("{}", ToJson(study));
    return;
  }
  fmt::print("{}", ResultsTable(study).ToText());
  PrintRecommendation(study.recommendation, given);
}

std::string CompareFooter() {
  std::string text = "Sets of pipelines:\n";
  for (const PipelineSet& set : ListPipelineSets())
    text += fmt::format("  {:<10} {}\n", set.name, set.summary);
  text +=
      "\nThe folder gets study.json, cases.csv, tables (Markdown, LaTeX, CSV), the models of "
      "every\n"
      "repeat and recommended.json. What is done is kept at once: after a kill or Ctrl-C the same\n"
      "command with --resume goes on and ends with the same bytes, and further pipelines can be "
      "added.\n\n"
      "Examples:\n"
      "  segcal compare camvid -p paper -o study\n"
      "  segcal compare camvid -p fast -p 'cms_ap(p)' --split 50,27,194 --repeats 5 -o study\n"
      "  segcal compare camvid -p paper --shift rain=camvid_rain --ece-bins 20,30,40,50 -o study\n"
      "  segcal compare camvid -p paper -o study --part 3/10";
  return text;
}

void AddStudyFlags(CLI::App& app, CompareArguments* given) {
  CompareOptions& options = given->options;
  app.add_option("dataset", given->dataset, "Data set file, or a folder holding dataset.json")
      ->required();
  app.add_option("-p,--pipeline",
                 options.pipelines,
                 "Pipelines and sets of them; several times. none(z0), none(p), none(z) are added")
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("-o,--output", given->output, "Folder of the study")->required();
  app.add_option("--repeats", options.repeats, "Partitions of the cases, each by another seed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--split",
                 given->split,
                 "Groups for calibration, validation and test, as numbers or proportions; own: the "
                 "data set's splits as they are, once (default: as many as its splits have, else "
                 "0.4,0.2,0.4)");
  app.add_option("--seed", options.seed, "Of partitions, fits and the bootstrap")
      ->capture_default_str();
  app.add_option("--search", options.search, "Trials of the search for penalties (default: 20)")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--select", given->select, "How penalties are chosen, as for fit")
      ->check(CLI::IsMember({"validation", "folds"}))
      ->capture_default_str();
  app.add_option("--objective",
                 given->objective,
                 "paper: every affine method once more, with the main paper's own objective")
      ->check(CLI::IsMember({"ours", "paper"}))
      ->capture_default_str();
  app.add_option("--metrics",
                 options.families,
                 "Families of metrics, comma-separated (default: all but those that need much "
                 "memory)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--pair",
                 given->pairs,
                 "Compare two pipelines by cases, FIRST=SECOND, beside the main paper's pairs; "
                 "several times")
      ->allow_extra_args(false);
  app.add_option("--replicates", options.replicates, "Of the bootstrap")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
}

void AddSensitivityFlags(CLI::App& app, CompareArguments* given) {
  CompareOptions& options = given->options;
  const auto list = [&](const char* flag, std::vector<int64_t>* values, const char* help) {
    app.add_option(flag, *values, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::PositiveNumber);
  };
  list("--calibration-cases",
       &options.calibration_cases,
       "Fit again on so many calibration groups, the test cases being the same");
  list("--ece-bins", &options.ece_bins, "ECE with so many bins");
  list("--ace-bins", &options.ace_bins, "ACE with so many bins");
  list("--ensemble-sizes", &options.members, "Fit again with so many members of the ensemble");
  list("--patch-sizes", &given->patches, "Errors of random patches with such sides");
  app.add_option("--shift",
                 given->shifts,
                 "NAME=DATASET: evaluate the models there too, as they are; several times")
      ->allow_extra_args(false);
}

void AddChoiceFlags(CLI::App& app, CompareArguments* given) {
  app.add_option("--preserve", given->preserve, "What a recommended pipeline must keep")
      ->check(CLI::IsMember({"none", "argmax", "order"}))
      ->capture_default_str();
  app.add_flag("--allow-offsets",
               given->allow_offsets,
               "Recommend also what depends on offsets of the logits");
  app.add_option("--score", given->options.recommend.score, "What the recommendation goes by")
      ->check(CLI::IsMember({"nll", "brier", "ece", "ace", "ba_ece"}))
      ->capture_default_str();
  app.add_flag("--resume", given->options.resume, "Go on with the study in the folder");
  AddForce(app, &given->options.force);
  app.add_option("--part",
                 given->part,
                 "I/N: only part I of N of the fits and evaluations, for N processes or machines "
                 "that share the folder; --resume without it makes the study");
  app.add_flag("--json", given->json, "Print the study as JSON");
}

}  // namespace

Action SetUpCompare(CLI::App& app) {
  auto given = std::make_shared<CompareArguments>();
  AddStudyFlags(app, given.get());
  AddSensitivityFlags(app, given.get());
  AddChoiceFlags(app, given.get());
  AddRunFlags(app, &given->run);
  app.footer(CompareFooter());
  return [given] {
    Run(*given, CommandLine());
    return 0;
  };
}

}  // namespace segcal::cli
