// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace segcal {

// Calls run(0) on this thread and run(1), run(2), … run(helpers) on threads that stand ready,
// each at most once, and returns when all calls that began have ended. A helper that no thread has
// taken up by the time run(0) returns is not called any more: run(0) must be able to do all the
// work alone, so teams inside teams, or of many user threads at once, cannot wait for each other.
//
// While it waits for helpers, it helps in the teams that those make, and `poll` is called here at
// least about every 50 ms. Neither may throw. Threads are made when more are wanted than stand
// idle, and kept. A child made by fork starts with none and makes its own; at exit those that stand
// idle are joined.
void RunTeam(int helpers,
             const std::function<void(int worker)>& run,
             const std::function<void()>& poll);

// While it lives, teams of this thread make no more threads than there are `most` in all; they take
// what stands idle. For work of which several go on side by side, so that each has the threads that
// the others leave.
class ThreadLimit {
 public:
  explicit ThreadLimit(int most) noexcept;
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int outer_;
};

// Waits until `ready`, which must not wait for anything itself; whoever makes it so calls
// WakeWaiting(). Meanwhile this thread helps in the teams that others of its own team make, and
// `poll` is called at least about every 50 ms; it may throw.
void WaitHelping(const std::function<bool()>& ready, const std::function<void()>& poll);
void WakeWaiting();

// Threads that stand ready or help now; for tests.
int NumStandingThreads();

}  // namespace segcal
