// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "data/case_reader.h"
#include "data/plane_box.h"
#include "data/voxel_block.h"

namespace segcal {

// What a tree looks at: log S(z), or z itself within +-kScoreLimit.
enum class ScoreKind { kCanonical, kRaw };
inline constexpr double kScoreLimit = 1e6;

// Pooled scores and labels of a box, read from the files of a case by one thread.
class BoxReader {
 public:
  BoxReader(const Pooling& pooling, ScoreKind kind) : pooling_(pooling), kind_(kind) {}

  void Read(const CaseReader& reader, const PlaneBox& box);
  const PaddedBox& scores() const noexcept { return scores_; }
  // Class index or kNoLabel, [rows][columns] of the box.
  const std::vector<int32_t>& labels() const noexcept { return labels_; }

 private:
  void ReadRun(const CaseReader& reader, int64_t begin, int64_t end);
  void ComputeScores(const Tile& tile);
  void Scatter(const Tile& tile, int64_t begin, int64_t end);

  Pooling pooling_;
  ScoreKind kind_;
  PlaneGrid grid_;
  PlaneBox box_;
  VoxelBlock block_;
  TileBuffer tile_;
  AlignedBuffer tile_scores_;  // [class][kTileVoxels]
  PaddedBox scores_;
  std::vector<int32_t> labels_;
};

}  // namespace segcal
