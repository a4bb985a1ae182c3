// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "cli/command.h"

namespace segcal::cli {

// The commands of a program and the end of its help.
struct Program {
  const char* footer;
  std::span<const Command> commands;
};

// That of segcal itself.
Program SegcalProgram();

// Parses, runs and reports: what main returns.
int RunProgram(const Program& program, int argc, char** argv);

}  // namespace segcal::cli
