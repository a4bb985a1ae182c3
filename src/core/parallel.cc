// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>

#include "core/parallel_pool.h"
#include "core/progress.h"

namespace segcal {

namespace {
std::atomic<int> g_most_threads{0};
}  // namespace

void LimitAvailableThreads(int most) noexcept { g_most_threads.store(most); }

int AvailableThreads() noexcept {
  if (const int most = g_most_threads.load(); most > 0) return most;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

void ParallelFor(int64_t num_items,
                 int num_threads,
                 const std::function<void(int64_t item, int worker)>& work) {
  if (num_threads <= 0) num_threads = AvailableThreads();
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first_error;
  std::mutex error_mutex;
  const auto keep_first_error = [&] {
    const std::lock_guard lock(error_mutex);
    if (!failed.exchange(true)) first_error = std::current_exception();
  };
  ProgressState* const progress = CurrentProgress();
  const auto run = [&](int worker) {
    std::optional<ProgressHelper> helper;
    if (worker != 0) helper.emplace(progress);
    try {
      for (int64_t item; !failed.load() && (item = next.fetch_add(1)) < num_items;) {
        PollProgress();
        work(item, worker);
      }
    } catch (...) {
      keep_first_error();
    }
  };
  const auto poll = [&] {
    try {
      PollProgress();
    } catch (...) {
      keep_first_error();
    }
  };
  RunTeam(static_cast<int>(std::min<int64_t>(num_threads, num_items)) - 1, run, poll);
  if (first_error) std::rethrow_exception(first_error);
  PollProgress();  // what a helper has reported last is told before the caller goes on
}

void ParallelForSpare(int64_t num_items,
                      int num_threads,
                      const std::function<void(int64_t item, int worker)>& work) {
  const ThreadLimit none_new(0);
  ParallelFor(num_items, num_threads, work);
}

}  // namespace segcal
