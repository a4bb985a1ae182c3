// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include "cli/arguments.h"
#include "cli/interrupt.h"
#include "cli/ranks.h"
#include "cli/streams.h"
#include "cli/throw.h"
#include "segcal/error.h"
#include "segcal/methods.h"
#include "segcal/version.h"

namespace segcal::cli {
namespace {

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
void CheckCommand(const Program& program, const std::string& first) {
  if (first == "-h" || first == "--help" || first == "--version") return;
  if (first.starts_with("-")) {
    Throw(ErrorCode::kInvalidArgument,
          "unknown option \"{}\"; options come after the command: segcal COMMAND {}",
          first,
          first);
  }
  std::vector<std::string> names;
  for (const Command& command : program.commands) names.emplace_back(command.name);
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

// Hands over to the program that has the command, as git does.
[[noreturn]] void HandOverCommand(const Command& command, char** argv) {
  if (StartedAsOneOfMany()) {
    Throw(ErrorCode::kInvalidArgument,
          "segcal {} is done by one process, and mpirun or srun has started several",
          command.name);
  }
  HandOver(command.program, argv);
  Throw(
      ErrorCode::kUnsupported,
      "segcal {} is a program of its own, {}, which is not installed here ({}); it is built where "
      "CMake finds libtorch, on Debian after: apt-get install libtorch-dev",
      command.name,
      command.program,
      std::strerror(errno));
}

void HandOverOthers(const Program& program, int argc, char** argv) {
  for (const Command& command : program.commands) {
    if (argc > 1 && command.program != nullptr && std::string_view(argv[1]) == command.name)
      HandOverCommand(command, argv);
  }
}

int Run(const Program& program, int argc, char** argv) {
  HandOverOthers(program, argc, argv);
  if (argc > 1) CheckCommand(program, argv[1]);
  CLI::App app("Makes the confidence of semantic segmentation models trustworthy.", "segcal");
  app.set_version_flag("--version", std::string("segcal ") + kVersion);
  app.require_subcommand(1);
  app.footer(program.footer);
  app.failure_message(
      [](const CLI::App* failed, const CLI::Error& error) { return ParseMessage(*failed, error); });
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : program.commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    if (command.set_up == nullptr) continue;
    const Action action = command.set_up(*sub);
    // What ranks do not share, the first does alone.
    actions.emplace_back(
        sub, command.shared || IsFirstRank() ? action : [] { return 0; });
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

int RunProgram(const Program& program, int argc, char** argv) {
  OpenStandardStreams();
  ReportFileSizeLimit();
  try {
    int code = 0;
    std::exception_ptr failure;
    try {
      if (!IsOneOfMany()) HandOverToRanks(argc, argv);
      code = Run(program, argc, argv);
      FlushOutput();
    } catch (...) {
      if (!IsOneOfMany()) throw;
      failure = std::current_exception();
    }
    if (IsOneOfMany()) OwnRanks().end(failure);
    return code;
  } catch (const Error& error) {
    return Report(error);
  } catch (const std::bad_alloc&) {
    Say("segcal: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    return ReportUnknown(error);
  }
}

}  // namespace segcal::cli
