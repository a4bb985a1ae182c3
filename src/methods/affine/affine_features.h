// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/tile.h"
#include "methods/affine/affine_shape.h"

namespace segcal {

// Raw logits may be as large as float32; beyond this, sums of them times weights would overflow.
inline constexpr double kMaxFeature = 1e28;

// Where the features of some voxels go: rows of kTileVoxels, from the lane of the first voxel on.
struct FeatureLanes {
  float* features;  // [num_features - 1][kTileVoxels]
  int32_t* labels;  // as positions: classes, or for gaps the winner first and the others in order
  uint16_t* order;  // [lane][position], the class there; kSortedGaps only
};

// The features of voxels of a tile that share an expert. log_norms[v] is log sum exp of the shifted
// logits of voxel v; used by kLogProbs only.
void WriteFeatures(const AffineShape& shape,
                   int64_t expert,
                   const Tile& tile,
                   std::span<const int32_t> voxels,
                   const float* log_norms,
                   const FeatureLanes& out);

// The class at a position, where positions are not sorted voxel by voxel.
int64_t ClassAt(const AffineShape& shape, int64_t expert, int64_t position) noexcept;

// In a segmentation most tiles lie in one region, and all voxels of an expert are neighbours.
bool AreNeighbours(std::span<const int32_t> voxels) noexcept;

}  // namespace segcal
