// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace segcal::cli {

// Call first. A standard stream that the caller has closed is opened on nothing, so that no data
// file gets its number and messages with it. What is printed to such an output is lost, which
// FlushOutput says.
void OpenStandardStreams();

// Makes a file that may not grow further an error, as a full disk is, and not the end by a signal.
void ReportFileSizeLimit() noexcept;

// From here on nothing is printed: another process speaks for this one.
void SilenceStreams() noexcept;
// From here on no stream is a terminal. mpirun reads what its processes print through one that
// nobody sees.
void ForgetTerminal() noexcept;

// Text on standard error. Never throws: whoever closed it, or let its disk fill up, does not read
// it, and the exit code says how the command ended.
void Say(std::string_view text) noexcept;

// An Error if what was printed did not arrive.
void FlushOutput();
// Whether it is known not to arrive.
bool OutputFailed() noexcept;

// Whether standard output or error is a terminal that can move its cursor and show colours.
bool IsTerminal(int fd) noexcept;

}  // namespace segcal::cli
