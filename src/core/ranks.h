// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/sums.h"

namespace segcal {

// Several processes, the ranks, that do one job together, each on its own share of the data. All
// take the same steps in the same order and meet where their sums become one; in between a rank
// knows nothing of the others. Sums join exactly, so all ranks have the same total, and the bits of
// everything that follows are those of one process. This process is the only rank unless a program
// says otherwise (mpi/), so the library knows no MPI.

// Bytes from one rank to another; they arrive in the order in which they were sent. Used by the one
// thread that meets. A wait calls `poll` about every 50 ms, which does not throw.
class RankLink {
 public:
  virtual ~RankLink() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  virtual void Send(int to, const std::string& bytes, const std::function<void()>& poll) = 0;
  virtual std::string Receive(int from, const std::function<void()>& poll) = 0;
};

// How ranks meet. From the first failure on there are no more meetings: all ranks know of it.
class RankMeetings {
 public:
  // What a rank brings and takes. Bytes of others are added in any order.
  struct Share {
    std::function<std::string()> pack;
    std::function<void(const std::string& others)> add;
    // What all brought, at every rank that did not pack it; null: only the first rank has it.
    std::function<void(const std::string& all)> take;
  };

  explicit RankMeetings(RankLink* link) : link_(*link) {}
  RankLink& link() noexcept { return link_; }
  // Whether a failure was told to all.
  bool ended() const noexcept { return ended_; }

  // Waits for all ranks, who meet at the same `step`. One that comes with a failure, its own
  // exception, ends the work of all: each throws what happened, the message being that of the
  // lowest rank that failed.
  void Meet(const std::string& step, const std::exception_ptr& failure, const Share& share);

 private:
  struct News;
  template <class Work>
  void Try(News* news, const Work& work);
  void Gather(News* news, const Share& share);
  void AddOf(int below, News* news, const Share& share);
  void Spread(News* news, const Share& share);
  void Send(int to, const News& news, const std::string& bytes);
  News Receive(int from, std::string* bytes);
  void Poll();

  RankLink& link_;
  std::exception_ptr cancelled_;  // while this rank waited
  bool ended_ = false;
};

// From here on the passes of this process over data are shared by the ranks that meet there; null:
// it is alone again, as at the start. To be called where nothing else goes on.
void ShareWork(RankMeetings* meetings);

int NumRanks() noexcept;
int ThisRank() noexcept;
// Of ranks that share work; see RankMeetings::Meet.
void MeetRanks(const std::string& step,
               const std::exception_ptr& failure,
               const RankMeetings::Share& share);

// The sums of all ranks; `make` makes sums of nothing (core/sums.h).
template <class Sums, class Make>
Sums JoinRanks(const std::string& step,
               const std::exception_ptr& failure,
               const Make& make,
               Sums own) {
  std::optional<Sums> total(std::move(own));
  const auto add = [&](const std::string& others) {
    Sums other = make();
    UnpackAllSums(others, &other);
    if constexpr (requires { total->Merge(std::move(other)); }) {
      total->Merge(std::move(other));
    } else {
      MergeSums(other, &*total);
    }
  };
  const auto take = [&](const std::string& all) {
    total.emplace(make());
    UnpackAllSums(all, &*total);
  };
  MeetRanks(step, failure, {.pack = [&] { return PackedSums(*total); }, .add = add, .take = take});
  return std::move(*total);
}

// The text of the first rank, for all: what it found in a file that it may soon replace.
std::string TextOfFirstRank(const std::string& step, const std::function<std::string()>& find);

// Calls work(); what it throws where several ranks share work is returned, for them to hear.
template <class Work>
std::exception_ptr FailureOf(const Work& work) {
  try {
    work();
  } catch (...) {
    if (NumRanks() == 1) throw;
    return std::current_exception();
  }
  return nullptr;
}

// Things that one rank each has made, by number, for all to have: plain values, rows of them, and
// what has Pack and Unpack as sums have.
template <class Item>
struct NumberedItems {
  std::map<int64_t, Item> items;

  void Merge(NumberedItems&& other) { items.merge(other.items); }
  void Pack(SumWriter* out) const {
    out->Put(static_cast<int64_t>(items.size()));
    for (const auto& [index, item] : items) {
      out->Put(index);
      if constexpr (std::is_trivially_copyable_v<Item>) {
        out->Put(item);
      } else if constexpr (requires(const Item& row) { row.data(); }) {
        out->Put(std::ssize(item));
        out->PutRow(item.data(), std::ssize(item));
      } else {
        item.Pack(out);
      }
    }
  }
  void Unpack(SumReader* in) {
    for (int64_t left = in->TakeCount(); left > 0; --left) {
      Item& item = items[in->Take<int64_t>()];
      if constexpr (std::is_trivially_copyable_v<Item>) {
        item = in->Take<Item>();
      } else if constexpr (requires(const Item& row) { row.data(); }) {
        item.resize(static_cast<size_t>(in->TakeCount()));
        in->TakeRow(item.data(), std::ssize(item));
      } else {
        item.Unpack(in);
      }
    }
  }
};

// Of these, every rank has made its own; afterwards all have all.
template <class Item>
void ShareItems(const std::string& step,
                const std::exception_ptr& failure,
                const std::vector<int64_t>& own,
                std::vector<Item>* items) {
  if (NumRanks() == 1) return;
  NumberedItems<Item> shared;
  for (const int64_t i : own) shared.items.emplace(i, std::move((*items)[static_cast<size_t>(i)]));
  shared = JoinRanks(
      step, failure, [] { return NumberedItems<Item>(); }, std::move(shared));
  for (auto& [index, item] : shared.items) (*items)[static_cast<size_t>(index)] = std::move(item);
}

// make_item(i) for all i below count: each by the rank that is_own(i) is true of, on its threads.
// All ranks get all items.
template <class Item, class IsOwn, class MakeItem>
std::vector<Item> MakeAndShare(const std::string& step,
                               int64_t count,
                               int threads,
                               const IsOwn& is_own,
                               const MakeItem& make_item) {
  std::vector<int64_t> own;
  for (int64_t i = 0; i < count; ++i) {
    if (is_own(i)) own.push_back(i);
  }
  std::vector<Item> items(static_cast<size_t>(count));
  const std::exception_ptr failure = FailureOf([&] {
    ParallelFor(std::ssize(own), threads, [&](int64_t k, int) {
      const int64_t i = own[static_cast<size_t>(k)];
      items[static_cast<size_t>(i)] = make_item(i);
    });
  });
  ShareItems(step, failure, own, &items);
  return items;
}

}  // namespace segcal
