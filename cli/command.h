// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/fit.h"

namespace segcal::cli {

// One command: adds its arguments to `app` and returns what to do once they are parsed, whose
// result is the exit code.
using Action = std::function<int()>;

// Exit code of `verify` for a model that is not what it declares to be.
inline constexpr int kBrokenDeclaration = 5;

struct Command {
  const char* name;
  const char* summary;
  Action (*set_up)(CLI::App& app);  // null where another program has the command
  const char* program = nullptr;    // that program
  bool shared = false;              // by ranks (cli/ranks.h); else the first does it alone
};
constexpr Command Shared(const char* name, const char* summary, Action (*set_up)(CLI::App& app)) {
  return {name, summary, set_up, nullptr, true};
}

// All commands, in the order of the help; defined in segcal.cc.
Action SetUpApply(CLI::App& app);
Action SetUpCompare(CLI::App& app);
Action SetUpCorrupt(CLI::App& app);
Action SetUpEvaluate(CLI::App& app);
Action SetUpExport(CLI::App& app);
Action SetUpFit(CLI::App& app);
Action SetUpFuse(CLI::App& app);
Action SetUpIndex(CLI::App& app);
Action SetUpInspect(CLI::App& app);
Action SetUpMerge(CLI::App& app);
Action SetUpReport(CLI::App& app);
Action SetUpSimulate(CLI::App& app);
Action SetUpVerify(CLI::App& app);

// --threads, --memory, --cache, --skip-bad, --quiet: the same for every command that reads a data
// set.
struct RunFlags {
  RunOptions run;
  std::string memory = "2G";
  bool quiet = false;

  // Options with the memory parsed and a progress display on standard error.
  RunOptions Make() const;
};
void AddRunFlags(CLI::App& app, RunFlags* flags);

// --force; `more` ends its help.
void AddForce(CLI::App& app, bool* force, const std::string& more = "");

// Whether an output is meant as a folder: it is one, or ends with a slash.
bool NamesFolder(const std::string& path);

// "512M", "4G", "1.5G", or bytes; an Error otherwise.
int64_t ParseBytes(const std::string& text);

// Progress on standard error: a bar on a terminal, a line per stage elsewhere.
ProgressCallback ProgressDisplay();

// Clears the bar: before anything else is printed.
void EndProgress(RunOptions* options);

// A line on standard error.
void Warn(const std::string& text);

// Lines on standard error for what was left out.
void ReportSkipped(const std::vector<std::string>& skipped);

// A line on standard error if probability rows did not sum to one.
void ReportRenormalised(int64_t rows);

// An Error if --picture names a case that is not among those at hand.
void CheckPicture(const Dataset& dataset, const std::string& id);

// "1 case", "2 cases", "3 classes".
std::string Counted(int64_t count, const char* word, const char* plural = "s");

// "1.2 M" style for counts of voxels.
std::string HumanCount(int64_t count);

}  // namespace segcal::cli
