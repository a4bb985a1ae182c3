// SPDX-License-Identifier: Apache-2.0
#include "core/progress.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>

#include "core/parallel_pool.h"
#include "core/throw.h"

namespace segcal {

using Clock = std::chrono::steady_clock;

struct ProgressState {
  ProgressCallback callback;
  // Of the thread that owns the scope.
  Clock::time_point last_call = Clock::now();
  bool calling = false;
  // Of all threads.
  std::mutex mutex;
  Progress latest;
  bool due = false;  // a stage has begun or ended since the last call
  std::exception_ptr thrown;
  std::atomic<bool> stopped{false};
};

namespace {

// The call that this thread works for, and whether it is the one that began it.
thread_local ProgressState* t_state = nullptr;
thread_local bool t_owned = false;

[[noreturn]] void ThrowStopped(ProgressState* state) {
  const std::lock_guard lock(state->mutex);
  if (state->thrown) std::rethrow_exception(state->thrown);
  const std::string& stage = state->latest.stage;
  Throw(ErrorCode::kCancelled, "stopped on request{}", stage.empty() ? "" : " during " + stage);
}

Progress TakeLatest(ProgressState* state) {
  const std::lock_guard lock(state->mutex);
  state->due = false;
  return state->latest;
}

bool IsDue(ProgressState* state) {
  if (Clock::now() - state->last_call >= kPollInterval) return true;
  const std::lock_guard lock(state->mutex);
  return state->due;
}

void CallBack(ProgressState* state) {
  state->calling = true;
  try {
    if (!state->callback(TakeLatest(state))) state->stopped.store(true);
  } catch (...) {
    const std::lock_guard lock(state->mutex);
    state->thrown = std::current_exception();
    state->stopped.store(true);
  }
  state->calling = false;
  state->last_call = Clock::now();
}

}  // namespace

ProgressScope::ProgressScope(const ProgressCallback& callback)
    : outer_(t_state), outer_owned_(t_owned) {
  if (!callback) return;
  auto own = std::make_unique<ProgressState>();
  own->callback = callback;
  own_ = own.release();
  t_state = own_;
  t_owned = true;
}

ProgressScope::~ProgressScope() {
  t_state = outer_;
  t_owned = outer_owned_;
  delete own_;
}

void ReportProgress(Progress progress) {
  ProgressState* state = t_state;
  if (state == nullptr) return;
  {
    const std::lock_guard lock(state->mutex);
    const bool ended = progress.total > 0 && progress.done >= progress.total;
    const bool news =
        progress.stage != state->latest.stage || progress.detail != state->latest.detail;
    if (ended || news) state->due = true;
    state->latest = std::move(progress);
  }
  PollProgress();
}

bool ProgressIsHeard() noexcept { return t_state != nullptr; }

void PollProgress() {
  ProgressState* state = t_state;
  // A callback may itself call the library.
  if (state == nullptr || (t_owned && state->calling)) return;
  if (t_owned && !state->stopped.load() && IsDue(state)) CallBack(state);
  if (state->stopped.load()) ThrowStopped(state);
}

ProgressState* CurrentProgress() noexcept { return t_state; }

ProgressHelper::ProgressHelper(ProgressState* state) noexcept
    : outer_(t_state), outer_owned_(t_owned) {
  t_owned = t_owned && t_state == state;  // helping in a loop of its own call
  t_state = state;
}

ProgressHelper::~ProgressHelper() {
  t_state = outer_;
  t_owned = outer_owned_;
}

bool PolledOnce::Begin() {
  for (;;) {
    State found = State::kNew;
    if (state_.compare_exchange_strong(found, State::kBusy)) return true;
    if (found == State::kDone) return false;
    WaitHelping([&] { return state_.load() != State::kBusy; }, [] { PollProgress(); });
  }
}

void PolledOnce::Set(State state) {
  state_.store(state);
  WakeWaiting();
}

}  // namespace segcal
