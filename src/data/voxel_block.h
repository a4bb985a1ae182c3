// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/aligned.h"
#include "data/case_reader.h"
#include "data/pooling.h"
#include "kernels/tile.h"

namespace segcal {

// The unit of reading and of reduction: sums are taken in double over the tiles of one block, in
// order, and leave it as order-free exact sums. 32 tiles: a block of 20 float32 classes is 640 KiB,
// about a second-level cache, and one read per class and block is 32 KiB.
inline constexpr int64_t kBlockVoxels = 32 * kTileVoxels;

// Voxels that need no valid prediction, because nothing depends on it: those without label in a
// case that has labels, or only those that the mask leaves out (where every other one is written).
enum class Excused { kUnlabelled, kMasked };

// Memory of one pooled tile and the scratch to make it.
class TileBuffer {
 public:
  void Reserve(int64_t num_classes);
  PoolOutput output() noexcept {
    return {.logits = logits_, .offset = offset_, .decision = decision_};
  }
  int32_t* labels() noexcept { return labels_; }
  uint8_t* masked() noexcept { return masked_; }
  void* scratch() noexcept { return scratch_; }

 private:
  AlignedBuffer memory_;
  int64_t num_classes_ = 0;
  float* logits_ = nullptr;
  double* offset_ = nullptr;
  uint16_t* decision_ = nullptr;
  int32_t* labels_ = nullptr;
  uint8_t* masked_ = nullptr;
  void* scratch_ = nullptr;
};

// Up to kBlockVoxels consecutive voxels of one case as they are in the files: members not yet
// pooled, labels as classes. Reused from block to block by one thread.
class VoxelBlock {
 public:
  // Reads voxels [first, first + count) of every opened member, with labels and mask.
  void Read(const CaseReader& reader, int64_t first, int64_t count);

  int64_t first() const noexcept { return first_; }
  int64_t count() const noexcept { return count_; }
  int64_t num_tiles() const noexcept { return (count_ + kTileVoxels - 1) / kTileVoxels; }
  const CaseReader& reader() const noexcept { return *reader_; }

  // Pools tile `index` into `buffer`; bad values are an Error naming file and voxel. Voxels that
  // are excused are masked where they have some, and as if all their classes were equal.
  Tile PoolTileInto(int64_t index,
                    const Pooling& pooling,
                    TileBuffer* buffer,
                    Excused excused = Excused::kUnlabelled);

  // Class index or kNoLabel of every voxel of the block.
  std::span<const int32_t> labels() const noexcept { return labels_; }

  // Probability rows whose sum differed from one by more than 1e-3, pooled since the last call.
  int64_t TakeRenormalised() noexcept { return std::exchange(renormalised_, 0); }

 private:
  void ReadMember(int64_t member);
  void ReadLabels();
  void PointRowsAt(int64_t begin, const Pooling& pooling);
  TileAhead NextTile(int64_t begin) const;
  std::vector<int64_t> FindExcused(int64_t begin,
                                   int64_t count,
                                   const PoolOptions& options,
                                   Excused excused) const;
  void StageRows(int64_t count, InputKind input, const std::vector<int64_t>& excused);
  [[noreturn]] void ThrowFault(const PoolStatus& status,
                               int64_t tile_first,
                               const Pooling& pooling) const;

  const CaseReader* reader_ = nullptr;
  int64_t first_ = 0;
  int64_t count_ = 0;
  std::vector<MemberRows> rows_;  // of all members; data null where not opened
  std::vector<AlignedBuffer> storage_;
  std::vector<int32_t> labels_;
  std::vector<uint8_t> masked_;
  std::vector<MemberRows> tile_rows_;  // scratch of PoolTileInto
  std::vector<double> staged_;         // the same, of tiles with voxels that are excused
  int64_t renormalised_ = 0;
};

}  // namespace segcal
