// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "core/parallel_pool.h"
#include "core/progress.h"

namespace segcal {

int AvailableThreads() noexcept {
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
  const auto guarded = [&](const auto& step) {
    try {
      step();
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!failed.exchange(true)) first_error = std::current_exception();
    }
  };
  ProgressState* const progress = CurrentProgress();
  const auto run_items = [&](int worker) {
    for (;;) {
      const int64_t item = next.fetch_add(1);
      if (item >= num_items || failed.load()) return;
      guarded([&] {
        PollProgress();
        work(item, worker);
      });
    }
  };
  const auto run = [&](int worker) {
    if (worker == 0) return run_items(0);
    const ProgressHelper helper(progress);
    run_items(worker);
  };
  const auto poll = [&] { guarded([] { PollProgress(); }); };
  RunTeam(static_cast<int>(std::min<int64_t>(num_threads, num_items)) - 1, run, poll);
  if (first_error) std::rethrow_exception(first_error);
  PollProgress();  // what a helper has reported last is told before the caller goes on
}

}  // namespace segcal
