// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "core/parallel_pool.h"

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
  const auto run = [&](int worker) {
    for (;;) {
      const int64_t item = next.fetch_add(1);
      if (item >= num_items || failed.load()) return;
      try {
        work(item, worker);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!failed.exchange(true)) first_error = std::current_exception();
      }
    }
  };
  RunTeam(static_cast<int>(std::min<int64_t>(num_threads, num_items)) - 1, run);
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace segcal
