// SPDX-License-Identifier: Apache-2.0
#include "cli/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/throw.h"

namespace segcal::cli {
namespace {

bool g_silent = false;
bool g_no_terminal = false;

}  // namespace

void OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is this one. Results on nothing are an error, messages are not.
    [[maybe_unused]] const int opened =
        ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void ReportFileSizeLimit() noexcept { std::signal(SIGXFSZ, SIG_IGN); }

void SilenceStreams() noexcept {
  const int nothing = ::open("/dev/null", O_WRONLY);
  if (nothing != -1) {
    ::dup2(nothing, STDOUT_FILENO);
    ::close(nothing);
  }
  g_silent = true;
}

void ForgetTerminal() noexcept { g_no_terminal = true; }

void Say(std::string_view text) noexcept {
  if (g_silent) return;
  std::fflush(stdout);  // where both end in one file, a message comes after what it is about
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void FlushOutput() {
  if (std::fflush(stdout) == 0 && !OutputFailed()) return;
  const int error = errno == 0 ? EIO : errno;
  Throw(ErrorCode::kIo, "standard output: cannot write: {}", std::strerror(error));
}

bool OutputFailed() noexcept { return std::ferror(stdout) != 0; }

bool IsTerminal(int fd) noexcept {
  const char* kind = std::getenv("TERM");
  return !g_no_terminal && ::isatty(fd) != 0 && (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

}  // namespace segcal::cli
