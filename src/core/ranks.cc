// SPDX-License-Identifier: Apache-2.0
#include "core/ranks.h"

#include <new>
#include <stdexcept>

#include "core/progress.h"
#include "core/throw.h"

namespace segcal {
namespace {

RankMeetings* g_shared = nullptr;  // set where nothing else goes on

// In place of the code of an Error.
constexpr int32_t kNoFailure = -1;
constexpr int32_t kInternal = -2;

}  // namespace

// Where a rank is and what has gone wrong, if anything: goes before the bytes of its sums.
struct RankMeetings::News {
  int32_t code = kNoFailure;
  int32_t rank = 0;  // that failed
  std::string step;
  std::string message;

  bool failed() const noexcept { return code != kNoFailure; }

  // The lowest rank that failed is the one that is heard of.
  void Fail(int32_t new_code, int32_t new_rank, std::string what) {
    if (failed() && rank <= new_rank) return;
    code = new_code;
    rank = new_rank;
    message = std::move(what);
  }
  void Fail(const std::exception_ptr& failure, int32_t own_rank) {
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      Fail(static_cast<int32_t>(error.code()), own_rank, error.what());
    } catch (const std::bad_alloc&) {
      Fail(kInternal, own_rank, "out of memory");
    } catch (const std::exception& error) {
      Fail(kInternal, own_rank, error.what());
    }
  }
  [[noreturn]] void Throw() const {
    if (code != kInternal) throw Error(static_cast<ErrorCode>(code), message);
    throw std::runtime_error(fmt::format("process {}: {}", rank, message));
  }

  std::string Packed() const {
    SumWriter out;
    out.Put(code);
    out.Put(rank);
    out.Put(static_cast<int64_t>(step.size()));
    return out.Bytes() + step + message;
  }
  static News Unpacked(const std::string& bytes) {
    constexpr size_t kHead = 2 * sizeof(int32_t) + sizeof(int64_t);
    SumReader in(bytes);
    News news;
    news.code = in.Take<int32_t>();
    news.rank = in.Take<int32_t>();
    const auto step = static_cast<size_t>(in.TakeCount());
    news.step = bytes.substr(kHead, step);
    news.message = bytes.substr(kHead + step);
    return news;
  }
};

void RankMeetings::Send(int to, const News& news, const std::string& bytes) {
  const auto poll = [this] { Poll(); };
  link_.Send(to, news.Packed(), poll);
  if (!news.failed()) link_.Send(to, bytes, poll);
}

RankMeetings::News RankMeetings::Receive(int from, std::string* bytes) {
  const auto poll = [this] { Poll(); };
  News news = News::Unpacked(link_.Receive(from, poll));
  if (!news.failed()) *bytes = link_.Receive(from, poll);
  return news;
}

// Waiting goes on, or whoever waits for this rank would wait for ever.
void RankMeetings::Poll() {
  if (cancelled_) return;
  try {
    PollProgress();
  } catch (...) {
    cancelled_ = std::current_exception();
  }
}

// What goes wrong here is told to all as well, or they would wait for ever.
template <class Work>
void RankMeetings::Try(News* news, const Work& work) {
  try {
    work();
  } catch (...) {
    news->Fail(std::current_exception(), link_.rank());
  }
}

void RankMeetings::AddOf(int below, News* news, const Share& share) {
  std::string bytes;
  const News theirs = Receive(below, &bytes);
  if (theirs.failed()) {
    news->Fail(theirs.code, theirs.rank, theirs.message);
  } else if (theirs.step != news->step) {
    news->Fail(kInternal,
               link_.rank(),
               fmt::format("at \"{}\", and process {} at \"{}\": they see different files",
                           news->step,
                           below,
                           theirs.step));
  }
  if (!news->failed()) Try(news, [&] { share.add(bytes); });
}

// Up a binomial tree: what a rank and those below it have goes to the one above.
void RankMeetings::Gather(News* news, const Share& share) {
  const int rank = link_.rank();
  for (int distance = 1; distance < link_.size(); distance *= 2) {
    if ((rank & distance) != 0) {
      std::string bytes;
      if (!news->failed()) Try(news, [&] { bytes = share.pack(); });
      return Send(rank - distance, *news, bytes);
    }
    if (rank + distance < link_.size()) AddOf(rank + distance, news, share);
  }
}

// And down again: what the first rank has in the end.
void RankMeetings::Spread(News* news, const Share& share) {
  const int rank = link_.rank();
  int distance = 1;
  while (distance < link_.size() && (rank & distance) == 0) distance *= 2;
  std::string bytes;
  if (rank > 0) {
    *news = Receive(rank - distance, &bytes);
  } else if (!news->failed() && share.take && link_.size() > 1) {
    Try(news, [&] { bytes = share.pack(); });
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (rank + distance < link_.size()) Send(rank + distance, *news, bytes);
  }
  if (rank > 0 && !news->failed() && share.take) share.take(bytes);
}

void RankMeetings::Meet(const std::string& step,
                        const std::exception_ptr& failure,
                        const Share& share) {
  if (ended_ && failure) std::rethrow_exception(failure);
  if (ended_) throw std::logic_error("ranks meet no more after a failure");
  News news{.step = step, .message = {}};
  if (failure) news.Fail(failure, link_.rank());
  Gather(&news, share);
  Spread(&news, share);
  ended_ = news.failed();
  if (ended_ && failure && news.rank == link_.rank()) std::rethrow_exception(failure);
  if (ended_) news.Throw();
  if (cancelled_) std::rethrow_exception(cancelled_);
}

void ShareWork(RankMeetings* meetings) { g_shared = meetings; }

int NumRanks() noexcept { return g_shared == nullptr ? 1 : g_shared->link().size(); }

int ThisRank() noexcept { return g_shared == nullptr ? 0 : g_shared->link().rank(); }

void MeetRanks(const std::string& step,
               const std::exception_ptr& failure,
               const RankMeetings::Share& share) {
  if (g_shared != nullptr) return g_shared->Meet(step, failure, share);
  if (failure) std::rethrow_exception(failure);
}

std::string TextOfFirstRank(const std::string& step, const std::function<std::string()>& find) {
  std::string text;
  std::exception_ptr failure;
  try {
    if (ThisRank() == 0) text = find();
  } catch (...) {
    failure = std::current_exception();
  }
  MeetRanks(step,
            failure,
            {.pack = [&] { return text; },
             .add = [](const std::string&) {},
             .take = [&](const std::string& all) { text = all; }});
  return text;
}

}  // namespace segcal
