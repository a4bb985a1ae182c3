// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "kernels/tile.h"
#include "methods/affine/affine_shape.h"

namespace segcal {

// Up to kTileVoxels voxels that share an expert, with their features; positions are classes, or for
// gaps the winner first and the others in their order.
class ExpertBatch {
 public:
  ExpertBatch(const AffineShape& shape, int64_t expert);

  const AffineShape& shape() const noexcept { return shape_; }
  int64_t count() const noexcept { return count_; }
  int64_t room() const noexcept { return kTileVoxels - count_; }
  bool full() const noexcept { return count_ == kTileVoxels; }
  const float* features() const noexcept { return features_; }
  const int32_t* labels() const noexcept { return labels_; }  // as positions
  // What a voxel of a sample stands for; null: every voxel counts once.
  const float* weights() const noexcept { return weights_.empty() ? nullptr : weights_.data(); }

  // Adds voxels of a tile, no more than there is room for; log_norms as in WriteFeatures.
  void Add(const Tile& tile, std::span<const int32_t> voxels, const float* log_norms);
  // Adds a voxel whose features (without the constant 1) and label position are known, and that
  // stands for `weight` voxels.
  void AddColumn(const float* features, int32_t label, float weight);
  // The features and label of the last voxel added.
  void CopyLast(float* features, int32_t* label) const noexcept;
  void Clear() noexcept;
  // Clears it for voxels of another expert.
  void Restart(int64_t expert) noexcept;

  // Values by position and lane, back to the classes and voxels of the tile they came from.
  void Scatter(const float* values, float* rows) const noexcept;

 private:
  void ScatterSorted(const float* values, float* rows) const noexcept;

  AffineShape shape_;
  int64_t expert_;
  int64_t count_ = 0;
  AlignedBuffer memory_;
  float* features_ = nullptr;
  int32_t* labels_ = nullptr;
  std::vector<float> weights_;   // of AddColumn
  std::vector<int32_t> voxels_;  // where in its tile every voxel was
  std::vector<uint16_t> order_;  // [lane][position], of voxels from tiles, kSortedGaps only
};

}  // namespace segcal
