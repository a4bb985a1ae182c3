// SPDX-License-Identifier: Apache-2.0
#include "core/parallel_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "core/parallel.h"
#include "core/progress.h"

namespace segcal {
namespace {

using namespace std::chrono_literals;

void RunTeam(int helpers, const std::function<void(int)>& run) {
  segcal::RunTeam(helpers, run, [] {});
}

// Waits until `count` has reached `wanted`; false after ten seconds.
bool Reaches(const std::atomic<int>& count, int wanted) {
  const auto give_up = std::chrono::steady_clock::now() + 10s;
  while (count.load() < wanted) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(RunTeam, HasAllItsHelpersAtOnceWhereTheyAreNeeded) {
  for (const int helpers : {0, 1, 3, 9}) {
    std::atomic<int> here{0};
    std::atomic<int> together{0};
    RunTeam(helpers, [&](int) {
      ++here;
      if (Reaches(here, helpers + 1)) ++together;
    });
    EXPECT_EQ(together, helpers + 1);
  }
}

TEST(RunTeam, KeepsItsThreads) {
  const auto meet = [](int helpers) {
    std::atomic<int> here{0};
    RunTeam(helpers, [&](int) {
      ++here;
      Reaches(here, helpers + 1);
    });
  };
  meet(5);
  const int threads = NumStandingThreads();
  EXPECT_GE(threads, 5);
  for (int k = 0; k < 50; ++k) meet(5);
  EXPECT_EQ(NumStandingThreads(), threads);
  meet(threads + 2);
  EXPECT_EQ(NumStandingThreads(), threads + 2);
}

TEST(ThreadLimit, MakesNoMoreThreadsAndUsesThoseThatStandIdle) {
  // How many threads a team has whose workers wait until there are so many.
  const auto meet = [](int helpers, int wanted) {
    std::atomic<int> here{0};
    std::mutex mutex;
    std::set<std::thread::id> threads;
    RunTeam(helpers, [&](int) {
      ++here;
      Reaches(here, wanted);
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    return static_cast<int>(threads.size());
  };
  meet(3, 4);
  const int threads = NumStandingThreads();
  {
    const ThreadLimit limit(threads);
    EXPECT_EQ(meet(threads + 4, threads + 1), threads + 1);
    const ThreadLimit more(threads + 2);
    EXPECT_EQ(meet(threads + 4, threads + 3), threads + 3);
  }
  EXPECT_EQ(NumStandingThreads(), threads + 2);
  EXPECT_EQ(meet(threads + 3, threads + 4), threads + 4);
}

TEST(RunTeam, NumbersItsWorkersWithoutGaps) {
  std::atomic<int> here{0};
  std::mutex mutex;
  std::set<int> workers;
  RunTeam(4, [&](int worker) {
    ++here;
    Reaches(here, 5);
    const std::lock_guard lock(mutex);
    workers.insert(worker);
  });
  EXPECT_EQ(workers, (std::set<int>{0, 1, 2, 3, 4}));
}

// All threads there are wait for one, in whose loop all are needed.
TEST(PolledOnce, LetsThoseWhoWaitHelp) {
  const int threads = NumStandingThreads() + 2;
  PolledOnce once;
  std::atomic<int> here{0};
  std::atomic<int> together{0};
  std::atomic<int> in_loop{0};
  RunTeam(threads - 1, [&](int) {
    ++here;
    ASSERT_TRUE(Reaches(here, threads));
    once.Call([&] {
      ParallelForSpare(threads, threads, [&](int64_t, int) {
        ++in_loop;
        if (Reaches(in_loop, threads)) ++together;
      });
    });
  });
  EXPECT_EQ(together, threads);
}

// The caller has nothing left to do and waits for its helpers; all but one of them wait, too.
TEST(RunTeam, HelpsWhileItWaits) {
  const int helpers = NumStandingThreads() + 1;
  std::atomic<int> here{0};
  std::atomic<int> in_loop{0};
  std::atomic<int> together{0};
  RunTeam(helpers, [&](int worker) {
    ++here;
    ASSERT_TRUE(Reaches(here, helpers + 1));
    if (worker == 0) return;
    if (worker > 1) {
      Reaches(together, 2);
      return;
    }
    ParallelForSpare(2, 2, [&](int64_t, int) {
      ++in_loop;
      if (Reaches(in_loop, 2)) ++together;
    });
  });
  EXPECT_EQ(together, 2);
}

TEST(ParallelForSpare, MakesNoThreads) {
  const int threads = NumStandingThreads();
  std::atomic<int> visits{0};
  ParallelForSpare(100, threads + 5, [&](int64_t, int) { ++visits; });
  EXPECT_EQ(visits, 100);
  EXPECT_EQ(NumStandingThreads(), threads);
}

TEST(ParallelFor, WorksInsideItself) {
  std::atomic<int> visits{0};
  ParallelFor(8, 4, [&](int64_t, int) {
    ParallelFor(8, 4, [&](int64_t, int) { ParallelFor(4, 3, [&](int64_t, int) { ++visits; }); });
  });
  EXPECT_EQ(visits, 8 * 8 * 4);
}

TEST(ParallelFor, WorksForSeveralUserThreadsAtOnce) {
  std::vector<std::atomic<int>> visits(6);
  {
    std::vector<std::jthread> users;
    for (auto& mine : visits) {
      users.emplace_back([&mine] {
        for (int round = 0; round < 50; ++round) ParallelFor(20, 3, [&](int64_t, int) { ++mine; });
      });
    }
  }
  for (const auto& mine : visits) EXPECT_EQ(mine, 1000);
}

// The thread sanitizer refuses threads in a child of a process that has some.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEGCAL_THREAD_SANITIZED
#endif
#endif
#ifndef SEGCAL_THREAD_SANITIZED
// A child has none of its parent's threads; it must not wait for them.
TEST(ParallelFor, WorksInAChildProcess) {
  ParallelFor(100, 4, [](int64_t, int) {});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    std::atomic<int> visits{0};
    ParallelFor(100, 4, [&](int64_t, int) { ++visits; });
    ::_exit(visits == 100 && NumStandingThreads() == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

// Ways to end: with threads idle, from inside a team, and in a child that never used them.
TEST(ParallelForDeathTest, LetsTheProcessExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto idle = [] {
    ParallelFor(100, 4, [](int64_t, int) {});
    std::exit(7);
  };
  EXPECT_EXIT(idle(), ::testing::ExitedWithCode(7), "");
  const auto busy = [] {
    RunTeam(3, [](int worker) {
      if (worker == 0) std::exit(8);
      std::this_thread::sleep_for(10s);
    });
  };
  EXPECT_EXIT(busy(), ::testing::ExitedWithCode(8), "");
}

}  // namespace
}  // namespace segcal
