// SPDX-License-Identifier: Apache-2.0
#include "core/parallel_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace segcal {
namespace {

// Of this thread, see ThreadLimit.
thread_local int t_most_threads = std::numeric_limits<int>::max();

// One call of RunTeam: lives on the stack of its caller. Guarded by the pool's mutex.
struct Team {
  const std::function<void(int)>& run;
  int wanted;          // helpers still to come
  const Team* inside;  // the team of the thread that made this one; null: none
  int next_worker = 1;
  int running = 0;
};

// The team that this thread works in.
thread_local const Team* t_team = nullptr;

class InTeam {
 public:
  explicit InTeam(const Team* team) : outer_(std::exchange(t_team, team)) {}
  ~InTeam() { t_team = outer_; }
  InTeam(const InTeam&) = delete;
  InTeam& operator=(const InTeam&) = delete;

 private:
  const Team* outer_;
};

class Pool {
 public:
  void Offer(Team* team, int most_threads) {
    const std::lock_guard lock(mutex_);
    teams_.push_back(team);
    wanted_ += team->wanted;
    while (idle_ < wanted_ && std::ssize(threads_) < most_threads && AddThread()) {
    }
    for (int k = 0; k < team->wanted; ++k) offered_.notify_one();
    if (waiting_ > 0) news_.notify_all();
  }

  // Takes back what nobody began, waits for what somebody did.
  void Withdraw(Team* team, const std::function<void()>& poll) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ -= team->wanted;
      std::erase(teams_, team);
    }
    Wait(
        team, [&] { return team->running == 0; }, poll);
  }

  // Until `ready`, helps in the teams inside `team`.
  template <class Ready>
  void Wait(const Team* team, const Ready& ready, const std::function<void()>& poll) {
    std::unique_lock lock(mutex_);
    while (!ready()) {
      if (Team* offered = FindInside(team)) {
        Help(Take(offered), &lock);
        continue;
      }
      ++waiting_;
      news_.wait_for(lock, kWait);
      --waiting_;
      if (ready()) return;
      lock.unlock();
      poll();
      lock.lock();
    }
  }

  void Wake() {
    const std::lock_guard lock(mutex_);
    if (waiting_ > 0) news_.notify_all();
  }

  // False if a team is at work: its threads cannot be waited for.
  bool Close() {
    std::unique_lock lock(mutex_);
    const bool all_idle = idle_ == static_cast<int>(threads_.size());
    closed_ = true;
    offered_.notify_all();
    lock.unlock();
    for (std::thread& thread : threads_) all_idle ? thread.join() : thread.detach();
    return all_idle;
  }

  int NumThreads() {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(threads_.size());
  }

 private:
  static constexpr std::chrono::milliseconds kWait{50};

  // Where the system gives no more threads, fewer do the work.
  bool AddThread() {
    try {
      threads_.emplace_back([this] { Serve(); });
    } catch (const std::exception&) {
      return false;
    }
    ++idle_;
    return true;
  }

  void Serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      offered_.wait(lock, [&] { return closed_ || !teams_.empty(); });
      if (closed_) return;
      --idle_;
      Help(Take(teams_.front()), &lock);
      ++idle_;
    }
  }

  Team* FindInside(const Team* team) {
    if (team == nullptr) return nullptr;
    const auto found =
        std::find_if(teams_.begin(), teams_.end(), [&](Team* t) { return t->inside == team; });
    return found == teams_.end() ? nullptr : *found;
  }

  // One helper for a team.
  Team* Take(Team* team) {
    if (--team->wanted == 0) std::erase(teams_, team);
    --wanted_;
    return team;
  }

  void Help(Team* team, std::unique_lock<std::mutex>* lock) {
    const int worker = team->next_worker++;
    ++team->running;
    lock->unlock();
    {
      const InTeam in(team);
      team->run(worker);
    }
    lock->lock();
    if (--team->running == 0 && waiting_ > 0) news_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable offered_;  // to those that stand idle
  std::condition_variable news_;     // to those that wait: a team was offered, or another ended
  std::deque<Team*> teams_;          // those that want helpers, oldest first
  int wanted_ = 0;                   // by all of them
  int idle_ = 0;
  int waiting_ = 0;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

// Null before the first use, in a child after fork, and after exit has begun.
constinit std::atomic<Pool*> g_pool{nullptr};
constinit std::atomic<bool> g_exiting{false};

// The threads of the parent do not exist in the child, and its mutex may be held by one of them:
// the child forgets the pool.
void ForgetPool() { g_pool.store(nullptr); }

Pool* FindPool() {
  if (g_exiting.load()) return nullptr;
  if (Pool* pool = g_pool.load()) return pool;
  static const int registered = ::pthread_atfork(nullptr, nullptr, &ForgetPool);
  static_cast<void>(registered);
  Pool* expected = nullptr;
  auto* made = new Pool;
  if (g_pool.compare_exchange_strong(expected, made)) return made;
  delete made;
  return expected;
}

// Joins idle threads before the library is gone. Where exit was called in the middle of a team's
// work, the pool stays: its threads may still look at it.
struct PoolCloser {
  constexpr PoolCloser() = default;
  ~PoolCloser() {
    g_exiting.store(true);
    Pool* pool = g_pool.exchange(nullptr);
    if (pool != nullptr && pool->Close()) delete pool;
  }
};
const PoolCloser kPoolCloser;

}  // namespace

void RunTeam(int helpers,
             const std::function<void(int worker)>& run,
             const std::function<void()>& poll) {
  Pool* pool = helpers > 0 ? FindPool() : nullptr;
  if (pool == nullptr) return run(0);
  Team team{.run = run, .wanted = helpers, .inside = t_team};
  pool->Offer(&team, t_most_threads);
  {
    const InTeam in(&team);
    run(0);
  }
  pool->Withdraw(&team, poll);
}

void WaitHelping(const std::function<bool()>& ready, const std::function<void()>& poll) {
  if (Pool* pool = FindPool()) return pool->Wait(t_team, ready, poll);
  while (!ready()) {  // at exit
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    poll();
  }
}

void WakeWaiting() {
  if (Pool* pool = g_pool.load()) pool->Wake();
}

ThreadLimit::ThreadLimit(int most) noexcept : outer_(t_most_threads) { t_most_threads = most; }
ThreadLimit::~ThreadLimit() { t_most_threads = outer_; }

int NumStandingThreads() {
  Pool* pool = g_pool.load();
  return pool == nullptr ? 0 : pool->NumThreads();
}

}  // namespace segcal
