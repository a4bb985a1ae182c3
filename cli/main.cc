// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/streams.h"
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
    {"merge", "Join what the parts of a job have left", &SetUpMerge},
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

// CLI11 would say of an unknown command, or of an option before it, that a command is missing.
void CheckCommand(const std::string& first) {
  if (first == "-h" || first == "--help" || first == "--version") return;
  if (first.starts_with("-")) {
    Throw(ErrorCode::kInvalidArgument,
          "unknown option \"{}\"; options come after the command: segcal COMMAND {}",
          first,
          first);
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  if (std::find(names.begin(), names.end(), first) != names.end()) return;
  Throw(ErrorCode::kInvalidArgument,
        "unknown command \"{}\"; there are {}",
        first,
        fmt::join(names, ", "));
}

// Prints help and version, which end with 0; everything else is a usage error.
int EndParsing(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream messages;
  const int code = app.exit(error, out, messages);
  fmt::print("{}", out.str());
  Say(messages.str());
  return code == 0 ? 0 : 2;
}

// As the parser takes them: the last one first.
std::vector<std::string> ParserArguments(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const CLI::App* command = arguments.empty() ? nullptr : FindCommand(app, arguments[0]);
  if (command != nullptr) {
    arguments = RepeatOptions(*command, {arguments.begin() + 1, arguments.end()});
    arguments.insert(arguments.begin(), command->get_name());
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

int Run(int argc, char** argv) {
  if (argc > 1) CheckCommand(argv[1]);
  CLI::App app("Makes the confidence of semantic segmentation models trustworthy.", "segcal");
  app.set_version_flag("--version", std::string("segcal ") + kVersion);
  app.require_subcommand(1);
  app.footer(kFooter);
  app.failure_message(
      [](const CLI::App* failed, const CLI::Error& error) { return ParseMessage(*failed, error); });
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    actions.emplace_back(sub, command.set_up(*sub));
  }
  try {
    app.parse(ParserArguments(app, argc, argv));
  } catch (const CLI::ParseError& error) {
    return EndParsing(app, error);
  }
  ActiveTarget();  // says so if SEGCAL_TARGET names no instruction set of this machine
  for (const auto& [sub, action] : actions) {
    if (!sub->parsed()) continue;
    SetCommand(sub);
    try {
      return action();
    } catch (const Error& error) {
      throw Error(error.code(), NameFlags(error.what()));
    }
  }
  return 0;
}

// What went wrong, in one line; the exit code.
int Report(const Error& error) {
  if (error.code() == ErrorCode::kCancelled) return ReportInterrupt(error);
  Say(fmt::format("segcal: {}\n", error.what()));
  return ExitCode(error.code());
}

int ReportUnknown(const std::exception& error) {
  // Long results are written before the end, and printing them throws.
  const bool full = OutputFailed();
  Say(fmt::format("segcal: {}: {}\n", full ? "standard output" : "internal error", error.what()));
  return full ? ExitCode(ErrorCode::kIo) : 1;
}

}  // namespace
}  // namespace segcal::cli

int main(int argc, char** argv) {
  using namespace segcal::cli;
  OpenStandardStreams();
  try {
    const int code = Run(argc, argv);
    FlushOutput();
    return code;
  } catch (const segcal::Error& error) {
    return Report(error);
  } catch (const std::bad_alloc&) {
    Say("segcal: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    return ReportUnknown(error);
  }
}
