// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "segcal/error.h"
#include "segcal/progress.h"

namespace segcal::cli {

// A callback that shows progress with `show`, if it is not empty, and asks to stop after Ctrl-C or
// SIGTERM. As long as it lives, the first of these signals only asks; a second ends the program at
// once.
ProgressCallback Interruptible(ProgressCallback show);

// What a command leaves behind when it is stopped, and how to go on: the end of the line that says
// so. It is called at the very end, after the command has returned.
void AdviseOnInterrupt(std::function<std::string()> advice);

// Says in one line what was stopped; returns the exit code, 128 plus the signal.
int ReportInterrupt(const Error& error);

}  // namespace segcal::cli
