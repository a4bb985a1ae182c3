// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace segcal {
namespace {

TEST(ParallelFor, VisitsEachItemOnceForAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 3, 8}) {
    for (const int64_t items : {0, 1, 2, 5, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(items));
      ParallelFor(items, threads, [&](int64_t item, int) { ++visits[static_cast<size_t>(item)]; });
      for (const auto& count : visits) EXPECT_EQ(count, 1) << threads << " threads, " << items;
    }
  }
}

TEST(ParallelFor, NumbersWorkersBelowTheNumberOfThreads) {
  for (const int threads : {1, 3, 8}) {
    std::atomic<int> highest{-1};
    std::atomic<int> lowest{1000};
    ParallelFor(200, threads, [&](int64_t, int worker) {
      for (int seen = highest; worker > seen && !highest.compare_exchange_weak(seen, worker);) {
      }
      for (int seen = lowest; worker < seen && !lowest.compare_exchange_weak(seen, worker);) {
      }
    });
    EXPECT_GE(lowest, 0);
    EXPECT_LT(highest, threads);
  }
}

// What makes an accumulator per worker safe.
TEST(ParallelFor, NeverRunsTwoItemsOfOneWorkerAtOnce) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<int>> running(kThreads);
  std::atomic<bool> overlap{false};
  ParallelFor(2000, kThreads, [&](int64_t, int worker) {
    auto& mine = running[static_cast<size_t>(worker)];
    if (++mine != 1) overlap = true;
    --mine;
  });
  EXPECT_FALSE(overlap);
}

TEST(ParallelFor, HandsOutItemsInOrder) {
  std::vector<int64_t> order;
  ParallelFor(10, 1, [&](int64_t item, int) { order.push_back(item); });
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int64_t>(i));
}

TEST(ParallelFor, RethrowsTheExceptionAfterEveryWorkerStopped) {
  for (const int threads : {1, 2, 5}) {
    std::atomic<int> running{0};
    std::atomic<int> started{0};
    const auto work = [&](int64_t item, int) {
      ++running;
      ++started;
      const bool bad = item == 3;
      --running;
      if (bad) throw std::runtime_error("item 3");
    };
    try {
      ParallelFor(1000000, threads, work);
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "item 3");
    }
    EXPECT_EQ(running, 0);
    EXPECT_LT(started, 1000000) << "items were handed out after the failure";
  }
}

TEST(ParallelFor, KeepsOneOfManyExceptions) {
  EXPECT_THROW(ParallelFor(64, 8, [](int64_t, int) { throw std::out_of_range("each"); }),
               std::out_of_range);
}

TEST(AvailableThreads, IsAtLeastOne) { EXPECT_GE(AvailableThreads(), 1); }

}  // namespace
}  // namespace segcal
