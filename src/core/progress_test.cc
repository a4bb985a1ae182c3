// SPDX-License-Identifier: Apache-2.0
#include "core/progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/parallel.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using namespace std::chrono_literals;
using testing::ExpectError;
using Clock = std::chrono::steady_clock;

double SecondsOf(const std::function<void()>& work) {
  const auto began = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

TEST(Progress, IsHeardByWhoeverListensInTheScopeAround) {
  std::vector<std::string> stages;
  EXPECT_FALSE(ProgressIsHeard());
  ReportProgress({.stage = "to nobody"});
  {
    const ProgressScope scope(ListenOnly([&](const Progress& p) { stages.push_back(p.stage); }));
    ReportProgress({.stage = "outer"});
    {
      const ProgressScope none({});
      ReportProgress({.stage = "through"});
    }
    {
      const ProgressScope other(ListenOnly([](const Progress&) {}));
      ReportProgress({.stage = "to another"});
    }
    EXPECT_TRUE(ProgressIsHeard());
  }
  EXPECT_FALSE(ProgressIsHeard());
  EXPECT_EQ(stages, (std::vector<std::string>{"outer", "through"}));
}

TEST(Progress, TellsTheBeginAndEndOfAStageAndLittleInBetween) {
  std::vector<int64_t> told;
  const ProgressScope scope(ListenOnly([&](const Progress& p) { told.push_back(p.done); }));
  const double seconds = SecondsOf([] {
    for (int64_t done = 0; done <= 10000; ++done)
      ReportProgress({.stage = "counting", .done = done, .total = 10000});
  });
  ASSERT_GE(told.size(), 2u);
  EXPECT_EQ(told.front(), 0);
  EXPECT_EQ(told.back(), 10000);
  EXPECT_LE(static_cast<double>(told.size()), 3.0 + seconds / 0.05);
}

TEST(Progress, CallsBackOnTheThreadThatBeganOnly) {
  const auto self = std::this_thread::get_id();
  int calls = 0;
  bool elsewhere = false;
  const ProgressScope scope(ListenOnly([&](const Progress&) {
    ++calls;
    elsewhere = elsewhere || std::this_thread::get_id() != self;
  }));
  std::atomic<int64_t> done{0};
  ParallelFor(60, 4, [&](int64_t, int) {
    std::this_thread::sleep_for(10ms);
    ReportProgress({.stage = "sleep", .done = ++done, .total = 60});
  });
  EXPECT_GE(calls, 2);
  EXPECT_FALSE(elsewhere);
}

// Work that reports nothing: a loop inside a loop, and a wait for helpers at its end.
TEST(Progress, StopsSilentLoopsWithinASecond) {
  for (const int threads : {1, 3}) {
    int calls = 0;
    const ProgressScope scope([&](const Progress&) { return ++calls < 3; });
    const double seconds = SecondsOf([&] {
      ExpectError(ErrorCode::kCancelled, {"stopped"}, [&] {
        ParallelFor(1000, threads, [&](int64_t, int) {
          ParallelFor(1000, 2, [](int64_t, int) { std::this_thread::sleep_for(5ms); });
        });
      });
    });
    EXPECT_EQ(calls, 3) << "called again after it asked to stop";
    EXPECT_LT(seconds, 1.5);
  }
}

TEST(Progress, StopsWhileOthersDoTheWork) {
  std::atomic<bool> stop{false};
  const ProgressScope scope([&](const Progress&) { return !stop.load(); });
  std::atomic<int> began{0};
  const auto work = [&](int64_t item, int) {
    ++began;
    if (item == 0) return;  // one of the two threads has nothing left to do
    for (;;) {
      stop = true;
      PollProgress();
      std::this_thread::sleep_for(1ms);
    }
  };
  ExpectError(ErrorCode::kCancelled, {"stopped"}, [&] { ParallelFor(2, 2, work); });
}

TEST(Progress, NamesTheStageThatWasStopped) {
  const ProgressScope scope([](const Progress& p) { return p.stage != "second"; });
  ReportProgress({.stage = "first"});
  ExpectError(ErrorCode::kCancelled, {"second"}, [] { ReportProgress({.stage = "second"}); });
  ExpectError(ErrorCode::kCancelled, {"second"}, [] { PollProgress(); });
}

TEST(Progress, BringsAnExceptionOfTheCallbackToTheCaller) {
  for (const int threads : {1, 4}) {
    const ProgressScope scope([](const Progress&) -> bool { throw std::out_of_range("mine"); });
    EXPECT_THROW(ParallelFor(200,
                             threads,
                             [](int64_t, int) {
                               std::this_thread::sleep_for(1ms);
                               ReportProgress({.stage = "some"});
                             }),
                 std::out_of_range);
  }
}

TEST(Progress, LetsTheCallbackCallTheLibrary) {
  int calls = 0;
  const ProgressScope scope([&](const Progress&) {
    ++calls;
    ParallelFor(100, 2, [](int64_t, int) { std::this_thread::sleep_for(2ms); });
    return true;
  });
  ReportProgress({.stage = "one"});
  EXPECT_EQ(calls, 1);
}

TEST(PolledOnce, DoesItOnceAndTriesAgainAfterAFailure) {
  PolledOnce once;
  int calls = 0;
  EXPECT_THROW(once.Call([&] {
    ++calls;
    throw std::runtime_error("not yet");
  }),
               std::runtime_error);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      once.Call([&] {
        std::this_thread::sleep_for(20ms);
        ++calls;
      });
    });
  }
  threads.clear();
  EXPECT_EQ(calls, 2);
}

TEST(PolledOnce, LetsThoseWhoWaitBeCancelled) {
  PolledOnce once;
  std::atomic<bool> busy{false};
  std::atomic<bool> release{false};
  std::jthread other([&] {
    once.Call([&] {
      busy = true;
      while (!release) std::this_thread::sleep_for(1ms);
    });
  });
  while (!busy) std::this_thread::yield();
  const ProgressScope scope([](const Progress&) { return false; });
  ExpectError(ErrorCode::kCancelled, {"stopped"}, [&] { once.Call([] {}); });
  release = true;
}

}  // namespace
}  // namespace segcal
