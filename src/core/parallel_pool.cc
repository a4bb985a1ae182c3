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
#include <vector>

namespace segcal {
namespace {

// Of this thread, see ThreadLimit.
thread_local int t_most_threads = std::numeric_limits<int>::max();

// One call of RunTeam: lives on the stack of its caller. Guarded by the pool's mutex.
struct Team {
  const std::function<void(int)>& run;
  int wanted;  // helpers still to come
  int next_worker = 1;
  int running = 0;
  std::condition_variable all_left = {};
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
  }

  // Takes back what nobody began, waits for what somebody did.
  void Withdraw(Team* team, const std::function<void()>& poll) {
    std::unique_lock lock(mutex_);
    wanted_ -= team->wanted;
    std::erase(teams_, team);
    while (!team->all_left.wait_for(lock, kWait, [&] { return team->running == 0; })) {
      lock.unlock();
      poll();
      lock.lock();
    }
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
      Help(TakeFirst(), &lock);
    }
  }

  Team* TakeFirst() {
    Team* team = teams_.front();
    if (--team->wanted == 0) teams_.pop_front();
    --wanted_;
    return team;
  }

  void Help(Team* team, std::unique_lock<std::mutex>* lock) {
    const int worker = team->next_worker++;
    ++team->running;
    --idle_;
    lock->unlock();
    team->run(worker);
    lock->lock();
    ++idle_;
    if (--team->running == 0) team->all_left.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable offered_;
  std::deque<Team*> teams_;  // those that want helpers, oldest first
  int wanted_ = 0;           // by all of them
  int idle_ = 0;
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
  Team team{.run = run, .wanted = helpers};
  pool->Offer(&team, t_most_threads);
  run(0);
  pool->Withdraw(&team, poll);
}

ThreadLimit::ThreadLimit(int most) noexcept : outer_(t_most_threads) { t_most_threads = most; }
ThreadLimit::~ThreadLimit() { t_most_threads = outer_; }

int NumStandingThreads() {
  Pool* pool = g_pool.load();
  return pool == nullptr ? 0 : pool->NumThreads();
}

}  // namespace segcal
