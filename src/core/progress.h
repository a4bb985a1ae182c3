// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "segcal/progress.h"

namespace segcal {

struct ProgressState;

// One call of the library and who listens to it, from the start of a public function to its end.
// What is reported inside, on this thread and those that help it, goes to the callback, which is
// called on this thread only. Without a callback, whoever listens to the call around this one, if
// any, goes on listening.
class ProgressScope {
 public:
  explicit ProgressScope(const ProgressCallback& callback);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  ProgressState* own_ = nullptr;
  ProgressState* outer_ = nullptr;
  bool outer_owned_ = false;
};

// Says how far work has come, from any thread. Cheap: the callback is called where a stage begins
// or ends, where the detail changes, and every 50 ms. Throws as PollProgress does.
void ReportProgress(Progress progress);
// Whether anybody listens: what is costly to tell need not be told.
bool ProgressIsHeard() noexcept;

// To be called between the steps of anything that may last: gives the callback its turn, if this is
// its thread and the last turn was 50 ms ago. Throws Error kCancelled once the callback has asked
// to stop, or what it threw.
void PollProgress();

// What helping threads take over from the thread they help (core/parallel.cc).
ProgressState* CurrentProgress() noexcept;
class ProgressHelper {
 public:
  explicit ProgressHelper(ProgressState* state) noexcept;
  ~ProgressHelper();
  ProgressHelper(const ProgressHelper&) = delete;
  ProgressHelper& operator=(const ProgressHelper&) = delete;

 private:
  ProgressState* outer_;
  bool outer_owned_;
};

// How long a wait may last between two polls.
inline constexpr std::chrono::milliseconds kPollInterval{50};

// Waits for `ready` and keeps polling.
template <class Ready>
void PollUntil(std::condition_variable* changed,
               std::unique_lock<std::mutex>* lock,
               const Ready& ready) {
  while (!changed->wait_for(*lock, kPollInterval, ready)) {
    lock->unlock();
    PollProgress();
    lock->lock();
  }
}

// std::call_once for work that lasts: those who wait for it keep polling, and help where the work
// has loops of its own. Where the work throws, the next one to come tries again.
class PolledOnce {
 public:
  template <class Work>
  void Call(const Work& work);

 private:
  enum class State { kNew, kBusy, kDone };
  // False where it has been done; else it is this thread's to do.
  bool Begin();
  void Set(State state);

  std::atomic<State> state_{State::kNew};
};

template <class Work>
void PolledOnce::Call(const Work& work) {
  if (!Begin()) return;
  try {
    work();
  } catch (...) {
    Set(State::kNew);
    throw;
  }
  Set(State::kDone);
}

}  // namespace segcal
