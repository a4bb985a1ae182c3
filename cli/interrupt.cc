// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>

#include "cli/streams.h"

namespace segcal::cli {
namespace {

volatile std::sig_atomic_t g_signal = 0;

void Note(int signal) { g_signal = signal; }

// Notes signals from here to its end. One that is ignored, as under nohup, stays ignored.
class SignalWatch {
 public:
  SignalWatch() {
    for (Watched& watched : watched_) {
      ::sigaction(watched.signal, nullptr, &watched.before);
      if (watched.before.sa_handler == SIG_IGN) continue;
      struct sigaction action = {};
      action.sa_handler = &Note;
      // The second one does what it always did; reads and writes go on after the first.
      action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
      ::sigaction(watched.signal, &action, nullptr);
    }
  }
  ~SignalWatch() {
    for (const Watched& watched : watched_) ::sigaction(watched.signal, &watched.before, nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct Watched {
    int signal;
    struct sigaction before = {};
  };
  Watched watched_[2] = {{SIGINT}, {SIGTERM}};
};

std::function<std::string()>& Advice() {
  static std::function<std::string()> advice = [] {
    return std::string("nothing was written; the same command starts again");
  };
  return advice;
}

}  // namespace

ProgressCallback Interruptible(ProgressCallback show) {
  auto watch = std::make_shared<SignalWatch>();
  return [watch, show = std::move(show)](const Progress& progress) {
    return g_signal == 0 && (!show || show(progress));
  };
}

void AdviseOnInterrupt(std::function<std::string()> advice) { Advice() = std::move(advice); }

int ReportInterrupt(const Error& error) {
  Say(fmt::format("segcal: {}: {}\n", error.what(), Advice()()));
  return 128 + (g_signal == 0 ? SIGINT : g_signal);
}

}  // namespace segcal::cli
