// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/interrupt.h"
#include "cli/ranks.h"
#include "cli/streams.h"
#include "cli/throw.h"

namespace segcal::cli {

int64_t ParseBytes(const std::string& text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  const std::string unit(result.ptr, end);
  double scale = 0.0;
  if (unit.empty() || unit == "B") scale = 1.0;
  if (unit == "K" || unit == "k") scale = 0x1p10;
  if (unit == "M") scale = 0x1p20;
  if (unit == "G") scale = 0x1p30;
  if (unit == "T") scale = 0x1p40;
  if (result.ec != std::errc() || scale == 0.0 || !(value > 0.0) || value * scale > 0x1p60) {
    Throw(ErrorCode::kInvalidArgument,
          "\"{}\" is not an amount of memory; for example 512M or 4G",
          text);
  }
  return static_cast<int64_t>(std::floor(value * scale));
}

void AddRunFlags(CLI::App& app, RunFlags* flags) {
  app.add_option(
         "--threads", flags->run.threads, "Threads; 0 is all cores. Results do not depend on it")
      ->check(CLI::Range(0, 1024));
  app.add_option(
      "--memory", flags->memory, "Memory to stay within, for example 512M or 4G (default 2G)");
  app.add_option(
      "--cache", flags->run.cache_dir, "Folder for decoded data that does not fit into memory");
  app.add_flag(
      "--skip-bad", flags->run.skip_bad, "Leave out cases that cannot be read, and list them");
  app.add_flag("--quiet", flags->quiet, "No progress display");
}

void AddForce(CLI::App& app, bool* force, const std::string& more) {
  app.add_flag("--force",
               *force,
               "Write also over files that are read, or that are not of the kind written" + more);
}

bool NamesFolder(const std::string& path) {
  std::error_code ignored;  // opening it says what is wrong
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

RunOptions RunFlags::Make() const {
  RunOptions options = run;
  options.memory = ParseBytes(memory);
  const bool shown = !quiet && IsFirstRank();
  options.progress = Interruptible(shown ? ProgressDisplay() : ProgressCallback());
  return options;
}

void EndProgress(RunOptions* options) { options->progress = {}; }

void Warn(const std::string& text) { Say(fmt::format("warning: {}\n", NameFlags(text))); }

void ReportSkipped(const std::vector<std::string>& skipped) {
  for (const std::string& line : skipped) Say(fmt::format("skipped {}\n", line));
}

void ReportRenormalised(int64_t rows) {
  if (rows == 0) return;
  Warn(fmt::format("{} probability rows did not sum to one within 1e-3 and were renormalised",
                   rows));
}

std::string Counted(int64_t count, const char* word, const char* plural) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : plural);
}

void CheckPicture(const Dataset& dataset, const std::string& id) {
  if (id.empty()) return;
  for (const Case& c : dataset.cases) {
    if (c.id == id) return;
  }
  Throw(ErrorCode::kInvalidArgument,
        "--picture {}: there is no such case among the {} read",
        id,
        dataset.cases.size());
}

}  // namespace segcal::cli
