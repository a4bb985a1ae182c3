// SPDX-License-Identifier: Apache-2.0
#include "core/ranks.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <new>

#include "core/exact_sum.h"
#include "core/progress.h"
#include "core/throw.h"

namespace segcal {
namespace {

// Ranks that are forked processes, with a pair of sockets between every two.
class SocketLink final : public RankLink {
 public:
  explicit SocketLink(int size) : size_(size) {
    for (int a = 0; a < size; ++a) {
      for (int b = 0; b < a; ++b) {
        std::array<int, 2> pair{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
        sockets_[{a, b}] = pair[0];
        sockets_[{b, a}] = pair[1];
      }
    }
  }
  void SetRank(int rank) { rank_ = rank; }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  void Send(int to, const std::string& bytes, const std::function<void()>& poll) override {
    poll();
    const size_t size = bytes.size();
    Write(to, reinterpret_cast<const char*>(&size), sizeof(size));
    Write(to, bytes.data(), size);
  }
  std::string Receive(int from, const std::function<void()>& poll) override {
    poll();
    size_t size = 0;
    Read(from, reinterpret_cast<char*>(&size), sizeof(size));
    std::string bytes(size, '\0');
    Read(from, bytes.data(), size);
    return bytes;
  }

 private:
  void Write(int to, const char* from, size_t left) {
    while (left > 0) {
      const ssize_t done = ::write(sockets_.at({rank_, to}), from, left);
      if (done <= 0) ::_exit(90);
      from += done;
      left -= static_cast<size_t>(done);
    }
  }
  void Read(int from, char* to, size_t left) {
    while (left > 0) {
      const ssize_t done = ::read(sockets_.at({rank_, from}), to, left);
      if (done <= 0) ::_exit(91);
      to += done;
      left -= static_cast<size_t>(done);
    }
  }

  int rank_ = 0;
  int size_;
  std::map<std::pair<int, int>, int> sockets_;
};

// Exit codes of work(meetings), done by so many ranks that share it.
std::vector<int> RunRanks(int size, const std::function<bool(RankMeetings* meetings)>& work) {
  SocketLink link(size);
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // no test waits for ever
      link.SetRank(rank);
      RankMeetings meetings(&link);
      ShareWork(&meetings);
      bool good = false;
      try {
        good = work(&meetings);
      } catch (...) {
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  std::vector<int> codes;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return codes;
}

std::vector<int> AllGood(int size) { return std::vector<int>(static_cast<size_t>(size), 0); }

struct Total {
  ExactSum sum;
  int64_t count = 0;
  static constexpr auto SumFields() { return std::tuple(&Total::sum, &Total::count); }
};

Total TotalOf(int begin, int end) {
  Total total;
  for (int i = begin; i < end; ++i) {
    total.sum.Add(1.0 / (i + 3.0));
    ++total.count;
  }
  return total;
}

class RanksOfEverySize : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, RanksOfEverySize, ::testing::Values(1, 2, 3, 4, 5, 8));

TEST_P(RanksOfEverySize, AllHaveTheTotalOfOneProcess) {
  const int size = GetParam();
  const std::string expected = PackedSums(TotalOf(0, 10 * size));
  const auto work = [&](RankMeetings*) {
    const Total own = TotalOf(10 * ThisRank(), 10 * ThisRank() + 10);
    for (int times = 0; times < 3; ++times) {
      const Total total = JoinRanks(
          "step", nullptr, [] { return Total(); }, own);
      if (PackedSums(total) != expected) return false;
    }
    return true;
  };
  EXPECT_EQ(RunRanks(size, work), AllGood(size));
}

TEST_P(RanksOfEverySize, ItemsAreMadeOnceAndKnownToAll) {
  const int size = GetParam();
  const auto work = [&](RankMeetings*) {
    std::vector<int64_t> made;
    const auto items = MakeAndShare<std::string>(
        "items",
        7,
        1,
        [](int64_t i) { return i % NumRanks() == ThisRank(); },
        [&](int64_t i) {
          made.push_back(i);
          return std::string(static_cast<size_t>(i), 'x');
        });
    bool good = std::ssize(made) == (7 - ThisRank() + NumRanks() - 1) / NumRanks();
    for (int64_t i = 0; i < 7; ++i) good = good && std::ssize(items[static_cast<size_t>(i)]) == i;
    return good;
  };
  EXPECT_EQ(RunRanks(size, work), AllGood(size));
}

TEST_P(RanksOfEverySize, EveryOneThrowsWhatTheLowestFailedWith) {
  const int size = GetParam();
  const int failing = size / 2;
  const auto work = [&](RankMeetings* meetings) {
    try {
      MakeAndShare<int64_t>(
          "items",
          size,
          1,
          [](int64_t i) { return i == ThisRank(); },
          [&](int64_t i) {
            if (i >= failing) Throw(ErrorCode::kBadData, "case {} is bad", i);
            return i;
          });
    } catch (const Error& error) {
      return error.code() == ErrorCode::kBadData &&
             error.what() == fmt::format("case {} is bad", failing) &&
             (size == 1 || meetings->ended());
    }
    return false;
  };
  EXPECT_EQ(RunRanks(size, work), AllGood(size));
}

TEST(Ranks, WhoeverFailsBetweenMeetingsIsHeardAtTheNext) {
  const auto work = [](RankMeetings* meetings) {
    try {
      if (ThisRank() == 1) throw std::bad_alloc();
      JoinRanks(
          "pass 1", nullptr, [] { return Total(); }, Total());
    } catch (const std::bad_alloc&) {
      // As a program ends.
      try {
        meetings->Meet("end",
                       std::current_exception(),
                       {.pack = [] { return std::string(); },
                        .add = [](const std::string&) {},
                        .take = nullptr});
      } catch (const std::bad_alloc&) {
        return true;
      }
    } catch (const std::runtime_error& error) {
      return error.what() == std::string("process 1: out of memory");
    }
    return false;
  };
  EXPECT_EQ(RunRanks(3, work), AllGood(3));
}

TEST(Ranks, DifferentStepsAreNoticed) {
  const auto work = [](RankMeetings*) {
    const std::string step = ThisRank() == 3 ? "survey" : "sample";
    try {
      JoinRanks(
          step, nullptr, [] { return Total(); }, Total());
    } catch (const std::runtime_error& error) {
      const std::string what = error.what();
      return what.find("survey") != std::string::npos && what.find("sample") != std::string::npos;
    }
    return false;
  };
  EXPECT_EQ(RunRanks(4, work), AllGood(4));
}

TEST(Ranks, WhoeverIsCancelledWhileWaitingDoesNotLeaveOthersAlone) {
  const auto work = [](RankMeetings* meetings) {
    const bool stops = ThisRank() == 0;
    const ProgressScope scope([&](const Progress&) { return !stops; });
    try {
      if (stops) ::usleep(60'000);  // so that the first poll calls back
      JoinRanks(
          "pass", nullptr, [] { return Total(); }, Total());
    } catch (const Error& error) {
      return stops && error.code() == ErrorCode::kCancelled && !meetings->ended();
    }
    return !stops;
  };
  EXPECT_EQ(RunRanks(2, work), AllGood(2));
}

TEST(Ranks, TextOfTheFirstIsThatOfAll) {
  const auto work = [](RankMeetings*) {
    return TextOfFirstRank("text", [] { return fmt::format("rank {}", ThisRank()); }) == "rank 0";
  };
  EXPECT_EQ(RunRanks(3, work), AllGood(3));
}

TEST(Ranks, AloneNothingIsPacked) {
  EXPECT_EQ(NumRanks(), 1);
  EXPECT_EQ(TextOfFirstRank("text", [] { return std::string("own"); }), "own");
  EXPECT_THROW(FailureOf([] { throw std::runtime_error("at once"); }), std::runtime_error);
}

}  // namespace
}  // namespace segcal
