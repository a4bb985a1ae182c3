// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/ranks.h"
#include "core/sums.h"
#include "data/sample.h"
#include "data/stream.h"

namespace segcal {

// True: what a worker has added up goes through bytes, and the workers are joined in another order,
// as if each were another machine. Tests set it; results must not change.
inline std::atomic<bool> reduce_through_bytes{false};

// One accumulator per worker, made at its first use, and their total: where what threads have added
// up comes together.
template <class Sums>
class WorkerSums {
 public:
  using Make = std::function<Sums()>;
  WorkerSums(int num_workers, Make make)
      : make_(std::move(make)), sums_(static_cast<size_t>(num_workers)) {}

  // Of one worker, for that worker alone.
  Sums& At(int worker) {
    std::optional<Sums>& own = sums_[static_cast<size_t>(worker)];
    if (!own) own.emplace(make_());
    return *own;
  }

  // Leaves nothing behind, and frees each as it goes: what keeps every voxel is not held twice.
  Sums TakeTotal() {
    if (reduce_through_bytes.load()) SendThroughBytes();
    std::optional<Sums> total;
    for (size_t w = 0; w < sums_.size(); ++w) {
      std::optional<Sums>& part = sums_[backwards_ ? sums_.size() - 1 - w : w];
      if (!part) continue;
      if (!total) {
        total.emplace(std::move(*part));
      } else if constexpr (requires { total->Merge(std::move(*part)); }) {
        total->Merge(std::move(*part));
      } else {
        MergeSums(*part, &*total);
      }
      part.reset();
    }
    return total ? std::move(*total) : make_();
  }

 private:
  void SendThroughBytes() {
    if constexpr (HasSumBytes<Sums>) {
      for (std::optional<Sums>& part : sums_) {
        if (!part) continue;
        const std::string bytes = PackedSums(*part);
        part.reset();
        UnpackAllSums(bytes, &part.emplace(make_()));
      }
    }
    backwards_ = true;
  }

  Make make_;
  std::vector<std::optional<Sums>> sums_;
  bool backwards_ = false;
};

// The end of a fixed block: what was added in double goes into order-free sums.
template <class Sums>
void FlushSums(Sums* sums) {
  if constexpr (requires { sums->Flush(); }) sums->Flush();
}

// The total of work(item, sums) over items, each of them a block that is flushed at its end.
template <class Make, class Work>
auto ReduceItems(int64_t num_items, int num_threads, const Make& make, const Work& work) {
  WorkerSums<decltype(make())> sums(num_threads, make);
  ParallelFor(num_items, num_threads, [&](int64_t item, int worker) {
    auto& mine = sums.At(worker);
    work(item, &mine);
    FlushSums(&mine);
  });
  return sums.TakeTotal();
}

// The total of add(block, case, tile buffer, sums) over the blocks of a stream: each rank goes
// through its own cases, and all have the total of all. The one place where passes of several
// machines come together.
template <class Make, class AddBlock>
auto ReduceBlocks(const CaseStream& stream,
                  const std::string& stage,
                  const Make& make,
                  const AddBlock& add,
                  const CaseStream::CaseVisitor& on_case_end = {}) {
  WorkerSums<decltype(make())> sums(stream.num_workers(), make);
  std::vector<TileBuffer> buffers(static_cast<size_t>(stream.num_workers()));
  const std::exception_ptr failure = FailureOf([&] {
    stream.ForEachOwnBlock(
        stage,
        [&](VoxelBlock& block, int64_t case_index, int worker) {
          auto& mine = sums.At(worker);
          add(block, case_index, &buffers[static_cast<size_t>(worker)], &mine);
          FlushSums(&mine);
        },
        on_case_end);
  });
  if constexpr (HasSumBytes<decltype(make())>) {
    if (NumRanks() > 1) return JoinRanks(stage, failure, make, sums.TakeTotal());
  }
  return sums.TakeTotal();
}

// The total of add(tile, case, sums) over the pooled tiles of a stream.
template <class Sums, class AddTile>
Sums ReduceTiles(const CaseStream& stream,
                 const std::string& stage,
                 const Pooling& pooling,
                 const Sums& zero,
                 const AddTile& add) {
  return ReduceBlocks(
      stream,
      stage,
      [&] { return zero; },
      [&](VoxelBlock& block, int64_t case_index, TileBuffer* buffer, Sums* sums) {
        for (int64_t t = 0; t < block.num_tiles(); ++t)
          add(block.PoolTileInto(t, pooling, buffer), case_index, sums);
      });
}

// The total of add(tile, sums) over a sample.
template <class Sums, class AddTile>
Sums ReduceTiles(const TileSample& sample, int num_threads, const Sums& zero, const AddTile& add) {
  constexpr int64_t kTilesPerBlock = kBlockVoxels / kTileVoxels;
  const int64_t num_blocks = (sample.num_tiles() + kTilesPerBlock - 1) / kTilesPerBlock;
  return ReduceItems(
      num_blocks,
      num_threads,
      [&] { return zero; },
      [&](int64_t block, Sums* sums) {
        const int64_t end = std::min(sample.num_tiles(), (block + 1) * kTilesPerBlock);
        for (int64_t t = block * kTilesPerBlock; t < end; ++t) add(sample.tile(t), sums);
      });
}

}  // namespace segcal
