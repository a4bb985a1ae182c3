// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace segcal {

// The machine's cores as this process may use them (its affinity mask), at least 1.
int AvailableThreads() noexcept;
// Fewer, where processes that work together share a machine; 0: all again.
void LimitAvailableThreads(int most) noexcept;

// Runs work(item, worker) for item = 0 .. num_items-1 on up to `num_threads` threads (0: all
// available), this one and others that stand ready (core/parallel_pool.h), worker in
// [0, num_threads). Items are handed out in order, each once; no item may wait for one that has not
// begun. The only place in segcal that uses threads. The first exception is rethrown here, after
// every worker has stopped. Between items and while it waits, this thread polls the progress of the
// call it works for (core/progress.h), so every loop can be cancelled.
//
// Which worker gets which item is not defined: combine results by item, or in accumulators whose
// merge does not depend on order (ExactSum, integer counts).
void ParallelFor(int64_t num_items,
                 int num_threads,
                 const std::function<void(int64_t item, int worker)>& work);

// The same inside such a loop, by this thread and those of the loop that have nothing else to do or
// wait for this one: no further threads are made.
void ParallelForSpare(int64_t num_items,
                      int num_threads,
                      const std::function<void(int64_t item, int worker)>& work);

}  // namespace segcal
