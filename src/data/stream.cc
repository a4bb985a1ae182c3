// SPDX-License-Identifier: Apache-2.0
#include "data/stream.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "core/deal.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/ranks.h"
#include "core/throw.h"
#include "data/case_bytes.h"
#include "data/input_check.h"

namespace segcal {
namespace {

// Members that the poolings take, or empty for all.
std::vector<int64_t> ListMembers(const Dataset& dataset, const std::vector<Pooling>& poolings) {
  std::vector<int64_t> members;
  for (const Pooling& pooling : poolings) {
    if (pooling.member < 0) return {};
    if (!dataset.cases.empty() &&
        pooling.member >= static_cast<int64_t>(dataset.cases[0].members.size())) {
      Throw(ErrorCode::kInvalidArgument,
            "pooling {} asks for member {}, the data set has members 0 to {}",
            FormatPooling(pooling),
            pooling.member,
            dataset.cases[0].members.size() - 1);
    }
    members.push_back(pooling.member);
  }
  return members;
}

int64_t ResidentBytes(const CaseReader& reader) {
  int64_t bytes = 0;
  const auto add = [&](const Array* array) {
    if (array != nullptr) bytes += array->resident_bytes();
  };
  add(reader.mask());
  if (reader.labels() != nullptr) add(&reader.labels()->array());
  for (int64_t m = 0; m < reader.num_members(); ++m) add(reader.member(m));
  return bytes;
}

}  // namespace

// What a stream and its subsets share: cases that stay open between passes, because opening again
// would decode again, and whose cases they are. Bounded in bytes and in files: a process may
// usually hold 1024.
class CaseStream::Kept {
 public:
  Kept(std::shared_ptr<const Dataset> dataset, int64_t max_bytes)
      : dataset_(std::move(dataset)), readers_(dataset_->cases.size()), max_bytes_(max_bytes) {}

  std::shared_ptr<const CaseReader> Find(int64_t index) {
    const std::lock_guard lock(mutex_);
    return readers_[static_cast<size_t>(index)];
  }

  // The rank of every case. Each rank looks up the sizes of some.
  const std::vector<int64_t>& Ranks() {
    if (!ranks_.empty()) return ranks_;
    const auto sizes = MakeAndShare<int64_t>(
        "sizes of cases",
        std::ssize(dataset_->cases),
        /*threads=*/1,
        [](int64_t i) { return i % NumRanks() == ThisRank(); },
        [&](int64_t i) {
          return PredictionBytes(*dataset_, dataset_->cases[static_cast<size_t>(i)]);
        });
    ranks_ = DealBySize(sizes, NumRanks());
    return ranks_;
  }

  int passes() const noexcept { return passes_.load(); }
  void SetPasses(int passes) noexcept { passes_.store(passes); }

  // False where there is no memory for what the case has decoded, nor for cases to come.
  bool Offer(int64_t index, const std::shared_ptr<const CaseReader>& reader) {
    const int64_t bytes = ResidentBytes(*reader);
    const int64_t files = reader->num_members() + 2;
    const std::lock_guard lock(mutex_);
    if (readers_[static_cast<size_t>(index)]) return true;  // another worker was faster
    if (files_ + files > max_files_) return true;
    if (bytes_ + bytes > max_bytes_) {
      is_full_ = true;
      return false;
    }
    readers_[static_cast<size_t>(index)] = reader;
    bytes_ += bytes;
    files_ += files;
    return true;
  }
  bool is_full() const noexcept { return is_full_.load(); }

 private:
  // A quarter of what the process may open: cases in flight and outputs need some, too.
  static int64_t MaxFiles() {
    constexpr int64_t kMost = 512;
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMost;
    return std::min(kMost, static_cast<int64_t>(limit.rlim_cur / 4));
  }

  const std::shared_ptr<const Dataset> dataset_;  // of the stream that is no subset
  std::vector<int64_t> ranks_;                    // of its cases, once asked for
  const int64_t max_files_ = MaxFiles();
  std::mutex mutex_;
  std::vector<std::shared_ptr<const CaseReader>> readers_;
  int64_t max_bytes_;
  int64_t bytes_ = 0;
  int64_t files_ = 0;
  std::atomic<bool> is_full_{false};
  std::atomic<int> passes_{1};  // at the same time
};

CaseStream::CaseStream(Dataset dataset, const std::vector<Pooling>& poolings, StreamOptions options)
    : dataset_(std::make_shared<const Dataset>(std::move(dataset))),
      options_(std::move(options)),
      members_(ListMembers(*dataset_, poolings)) {
  if (options_.threads <= 0) options_.threads = AvailableThreads();
  // A quarter for cases kept open, half for cases being decoded, the rest for blocks and sums.
  kept_ = std::make_shared<Kept>(dataset_, options_.memory / 4);
}

CaseStream::~CaseStream() = default;

int64_t CaseStream::memory() const noexcept { return options_.memory / kept_->passes(); }

void CaseStream::ShareMemory(int passes) { kept_->SetPasses(std::max(1, passes)); }

std::unique_ptr<CaseStream> CaseStream::Subset(const std::vector<int64_t>& cases) const {
  Dataset dataset = *dataset_;
  dataset.cases.clear();
  for (const int64_t c : cases) dataset.cases.push_back(dataset_->cases[static_cast<size_t>(c)]);
  auto subset = std::make_unique<CaseStream>(std::move(dataset), std::vector<Pooling>{}, options_);
  subset->members_ = members_;
  subset->kept_ = kept_;
  for (const int64_t c : cases) subset->kept_as_.push_back(KeptAs(c));
  return subset;
}

std::unique_ptr<CaseStream> CaseStream::Part(const std::vector<int64_t>& cases) const {
  std::unique_ptr<CaseStream> part = Subset(cases);
  part->options_.memory /= 2;
  part->options_.shows_progress = false;
  return part;
}

int64_t CaseStream::KeptAs(int64_t case_index) const {
  return kept_as_.empty() ? case_index : kept_as_[static_cast<size_t>(case_index)];
}

std::shared_ptr<const CaseReader> CaseStream::Open(int64_t case_index) const {
  const int64_t kept_as = KeptAs(case_index);
  if (auto reader = kept_->Find(kept_as)) return reader;
  if (options_.keeps_decoded && kept_->is_full()) return OpenInFile(case_index);
  auto reader = OpenReader(case_index, /*decoded_to_file=*/false);
  if (kept_->Offer(kept_as, reader) || !options_.keeps_decoded) return reader;
  return OpenInFile(case_index);
}

std::shared_ptr<const CaseReader> CaseStream::OpenReader(int64_t case_index,
                                                         bool decoded_to_file) const {
  const Case& entry = dataset_->cases[static_cast<size_t>(case_index)];
  const int64_t arrays = static_cast<int64_t>(entry.members.size()) + 2;
  const OpenOptions open{.key = {},
                         .memory_limit = memory() / 2 / (options_.threads * arrays),
                         .cache_dir = options_.cache_dir,
                         .decoded_to_file = decoded_to_file};
  auto reader = std::make_shared<const CaseReader>(*dataset_, entry, members_, open);
  CheckInputKind(*reader);
  return reader;
}

// What is decoded goes into temporary files, which later passes read; where there is no room for
// them, it is decoded anew each time.
std::shared_ptr<const CaseReader> CaseStream::OpenInFile(int64_t case_index) const {
  std::shared_ptr<const CaseReader> reader;
  try {
    reader = OpenReader(case_index, /*decoded_to_file=*/true);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) throw;
    return OpenReader(case_index, /*decoded_to_file=*/false);
  }
  kept_->Offer(KeptAs(case_index), reader);
  return reader;
}

namespace {

// A case being visited: blocks are handed out in order; the worker that ends the last one ends it.
struct OpenedCase {
  int64_t index = 0;
  std::shared_ptr<const CaseReader> reader;
  int64_t next_voxel = 0;
  int64_t voxels_done = 0;
};

// Hands out blocks of open cases first; when there are none, opens the next case, outside the lock,
// so that several workers decode several files at once. At most one case per worker is open beyond
// those with blocks left, and fewer where visitors keep much of each (StreamOptions).
class Schedule {
 public:
  struct Item {
    OpenedCase* opened = nullptr;  // null: no work left
    int64_t first = 0;
    int64_t count = 0;
  };

  Schedule(const CaseStream& stream, std::string stage)
      : stream_(stream), stage_(std::move(stage)) {}

  Item Take() {
    for (;;) {
      std::unique_lock lock(mutex_);
      // Wait only while another worker opens or holds a case and there is nothing else to do.
      PollUntil(&ready_, &lock, [&] {
        return failed_ || HasBlocks() || (HasCases() ? MayOpen() : opening_ == 0);
      });
      if (failed_) return {};
      if (HasBlocks()) return NextBlock();
      if (!HasCases()) return {};
      OpenNext(&lock);
    }
  }

  // Returns true for the worker that finished the case.
  bool Finish(const Item& item) {
    const std::lock_guard lock(mutex_);
    item.opened->voxels_done += item.count;
    voxels_done_ += item.count;
    return item.opened->voxels_done == item.opened->reader->num_voxels();
  }

  void Close(OpenedCase* opened) {
    const std::lock_guard lock(mutex_);
    std::erase_if(cases_, [&](const auto& c) { return c.get() == opened; });
    ready_.notify_all();
  }

  // The total is an estimate until every case has been opened.
  void Report() {
    if (!stream_.options().shows_progress || !ProgressIsHeard()) return PollProgress();
    Progress progress{.stage = stage_};
    {
      const std::lock_guard lock(mutex_);
      const int64_t total =
          cases_opened_ == 0 ? 0 : voxels_opened_ / cases_opened_ * stream_.num_cases();
      progress.done = voxels_done_;
      progress.total = std::max(total, voxels_done_);
    }
    ReportProgress(std::move(progress));
  }

  void Fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    ready_.notify_all();
  }

 private:
  bool HasBlocks() const {
    return std::any_of(cases_.begin(), cases_.end(), [](const auto& c) {
      return c->next_voxel < c->reader->num_voxels();
    });
  }

  bool HasCases() const { return next_case_ < stream_.num_cases(); }

  // Cases to come are taken to be as large as the largest so far.
  bool MayOpen() const {
    const int64_t in_flight = opening_ + static_cast<int64_t>(cases_.size());
    if (in_flight == 0 || stream_.options().bytes_per_voxel == 0) return true;
    if (largest_case_ == 0) return false;
    return (in_flight + 1) * largest_case_ * stream_.options().bytes_per_voxel <=
           stream_.memory() / 2;
  }

  Item NextBlock() {
    for (const auto& c : cases_) {
      const int64_t left = c->reader->num_voxels() - c->next_voxel;
      if (left == 0) continue;
      const Item item{
          .opened = c.get(), .first = c->next_voxel, .count = std::min(kBlockVoxels, left)};
      c->next_voxel += item.count;
      return item;
    }
    return {};
  }

  void OpenNext(std::unique_lock<std::mutex>* lock) {
    auto opened = std::make_unique<OpenedCase>();
    opened->index = next_case_++;
    ++opening_;
    lock->unlock();
    opened->reader = stream_.Open(opened->index);
    lock->lock();
    --opening_;
    voxels_opened_ += opened->reader->num_voxels();
    largest_case_ = std::max(largest_case_, opened->reader->num_voxels());
    ++cases_opened_;
    cases_.push_back(std::move(opened));
    ready_.notify_all();
  }

  const CaseStream& stream_;
  const std::string stage_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::unique_ptr<OpenedCase>> cases_;
  int64_t next_case_ = 0;
  int64_t opening_ = 0;
  int64_t cases_opened_ = 0;
  int64_t voxels_opened_ = 0;
  int64_t largest_case_ = 0;
  int64_t voxels_done_ = 0;
  bool failed_ = false;
};

}  // namespace

void CaseStream::ForEachBlock(const std::string& stage,
                              const BlockVisitor& on_block,
                              const CaseVisitor& on_case_end) const {
  Schedule schedule(*this, stage);
  schedule.Report();
  // One item per worker: the schedule hands out the real work.
  ParallelFor(options_.threads, options_.threads, [&](int64_t, int worker) {
    VoxelBlock block;
    try {
      for (Schedule::Item item = schedule.Take(); item.opened != nullptr; item = schedule.Take()) {
        block.Read(*item.opened->reader, item.first, item.count);
        on_block(block, item.opened->index, worker);
        if (schedule.Finish(item)) {
          if (on_case_end) on_case_end(item.opened->index, *item.opened->reader);
          schedule.Close(item.opened);
        }
        schedule.Report();
      }
    } catch (...) {
      schedule.Fail();
      throw;
    }
  });
  schedule.Report();
}

bool CaseStream::IsOwn(int64_t case_index) const {
  if (NumRanks() == 1) return true;
  return kept_->Ranks()[static_cast<size_t>(KeptAs(case_index))] == ThisRank();
}

std::vector<int64_t> CaseStream::OwnCases() const {
  std::vector<int64_t> own;
  for (int64_t c = 0; c < num_cases(); ++c) {
    if (IsOwn(c)) own.push_back(c);
  }
  return own;
}

void CaseStream::ForEachOwnBlock(const std::string& stage,
                                 const BlockVisitor& on_block,
                                 const CaseVisitor& on_case_end) const {
  if (NumRanks() == 1) return ForEachBlock(stage, on_block, on_case_end);
  const std::vector<int64_t> own = OwnCases();
  if (!own_) own_ = Subset(own);
  const auto number = [&](int64_t c) { return own[static_cast<size_t>(c)]; };
  own_->ForEachBlock(
      stage,
      [&](VoxelBlock& block, int64_t c, int worker) { on_block(block, number(c), worker); },
      [&](int64_t c, const CaseReader& reader) {
        if (on_case_end) on_case_end(number(c), reader);
      });
}

namespace {

// Why a case cannot be read; empty if it can.
std::string WhyUnreadable(const Dataset& single,
                          const std::vector<Pooling>& poolings,
                          const StreamOptions& options,
                          Excused excused) {
  try {
    const CaseStream stream(single, poolings, options);
    std::vector<TileBuffer> buffers(static_cast<size_t>(stream.num_workers()));
    stream.ForEachBlock("check " + single.cases[0].id, [&](VoxelBlock& block, int64_t, int worker) {
      for (const Pooling& pooling : poolings) {
        for (int64_t t = 0; t < block.num_tiles(); ++t) {
          block.PoolTileInto(t, pooling, &buffers[static_cast<size_t>(worker)], excused);
        }
      }
    });
  } catch (const Error& error) {
    // Not the case's fault.
    if (error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kCancelled) throw;
    return fmt::format("{}: {}", single.cases[0].id, error.what());
  }
  return {};
}

}  // namespace

Dataset WithoutBadCases(const Dataset& dataset,
                        const std::vector<Pooling>& poolings,
                        const StreamOptions& options,
                        std::vector<std::string>* dropped,
                        Excused excused) {
  Dataset good = dataset;
  good.cases.clear();
  const CaseStream all(dataset, poolings, options);
  // One after the other: each is read by all threads.
  const auto why = MakeAndShare<std::string>(
      "check cases",
      std::ssize(dataset.cases),
      /*threads=*/1,
      [&](int64_t c) { return all.IsOwn(c); },
      [&](int64_t c) {
        Dataset single = good;
        single.cases = {dataset.cases[static_cast<size_t>(c)]};
        return WhyUnreadable(single, poolings, options, excused);
      });
  for (size_t c = 0; c < dataset.cases.size(); ++c) {
    if (why[c].empty()) {
      good.cases.push_back(dataset.cases[c]);
    } else {
      dropped->push_back(why[c]);
    }
  }
  return good;
}

}  // namespace segcal
