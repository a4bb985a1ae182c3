// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/throw.h"
#include "segcal/error.h"
#include "segcal/methods.h"
#include "segcal/version.h"

namespace segcal::cli {
namespace {

constexpr Command kCommands[] = {
    {"simulate", "Make a data set whose true probabilities are known", &SetUpSimulate},
    {"index", "Write a data set file from file name patterns", &SetUpIndex},
    {"inspect", "Show what is in a data set or a model", &SetUpInspect},
    {"fit", "Fit a calibrator on held-out predictions", &SetUpFit},
    {"apply", "Write calibrated probabilities", &SetUpApply},
    {"evaluate", "Measure calibration and segmentation quality", &SetUpEvaluate},
    {"fuse", "Fuse candidate segmentations into one", &SetUpFuse},
    {"corrupt", "Corrupt images, to see how predictions hold up", &SetUpCorrupt},
    {"export", "Write a model as an ONNX graph", &SetUpExport},
    {"compare", "Run a whole study and recommend a calibrator", &SetUpCompare},
    {"report", "Make the page of a study", &SetUpReport},
    {"verify", "Check what a model declares, on the values it emits", &SetUpVerify},
};

constexpr const char* kFooter =
    "A first run, from nothing:\n"
    "  segcal simulate demo --preset street\n"
    "  segcal fit demo -p 'ts(z)' -o model.json\n"
    "  segcal evaluate demo -p 'none(z)' -m model.json --split test --figures figures\n\n"
    "Exit codes: 0 ok, 1 internal error, 2 wrong usage, 3 bad data, 4 input/output error,\n"
    "5 verify: the declaration does not hold, 130 stopped by Ctrl-C, 143 by SIGTERM.";

int ExitCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 2;
    case ErrorCode::kBadData:
    case ErrorCode::kUnsupported:
      return 3;
    case ErrorCode::kIo:
      return 4;
    case ErrorCode::kCancelled:
      break;  // ReportInterrupt
  }
  return 1;
}

// CLI11 would say of an unknown command that one is missing.
void CheckCommand(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  Throw(ErrorCode::kInvalidArgument,
        "unknown command \"{}\"; there are {}",
        argv[1],
        fmt::join(names, ", "));
}

int Run(int argc, char** argv) {
  CheckCommand(argc, argv);
  CLI::App app("Makes the confidence of semantic segmentation models trustworthy.", "segcal");
  app.set_version_flag("--version", std::string("segcal ") + kVersion);
  app.require_subcommand(1);
  app.footer(kFooter);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    actions.emplace_back(sub, command.set_up(*sub));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version end here with 0; everything else is a usage error.
    return app.exit(error) == 0 ? 0 : 2;
  }
  ActiveTarget();  // says so if SEGCAL_TARGET names no instruction set of this machine
  int code = 0;
  for (const auto& [sub, action] : actions) {
    if (sub->parsed()) code = action();
  }
  if (std::fflush(stdout) != 0)
    Throw(ErrorCode::kIo, "standard output: cannot write: {}", std::strerror(errno));
  return code;
}

}  // namespace
}  // namespace segcal::cli

int main(int argc, char** argv) {
  try {
    return segcal::cli::Run(argc, argv);
  } catch (const segcal::Error& error) {
    if (error.code() == segcal::ErrorCode::kCancelled) return segcal::cli::ReportInterrupt(error);
    fmt::print(stderr, "segcal: {}\n", error.what());
    return segcal::cli::ExitCode(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "segcal: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    // Long results are written before the end, and printing them throws.
    const bool full = std::ferror(stdout) != 0;
    fmt::print(
        stderr, "segcal: {}: {}\n", full ? "standard output" : "internal error", error.what());
    return full ? segcal::cli::ExitCode(segcal::ErrorCode::kIo) : 1;
  }
}
