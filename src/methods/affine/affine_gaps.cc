// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_gaps.h"

#include <algorithm>

namespace segcal {

void ScoresFromGaps(const ExpertBatch& batch, const float* rows, float* scores) noexcept {
  std::fill_n(scores, kTileVoxels, 0.0f);
  const bool sorted = batch.shape().space == AffineSpace::kSortedGaps;
  for (int64_t r = 0; r < batch.shape().num_rows(); ++r) {
    const float* gap = rows + r * kTileVoxels;
    const float* above = scores + (sorted ? r : 0) * kTileVoxels;
    const float* feature = batch.features() + r * kTileVoxels;
    float* below = scores + (r + 1) * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      below[v] = above[v] - (sorted && feature[v] == 0.0f ? 0.0f : gap[v]);
    }
  }
}

void RowsFromScores(const ExpertBatch& batch, float* residual) noexcept {
  if (!batch.shape().gaps()) return;
  // d(score of position j) / d(gap m) = -1 for j = m, sorted for all j >= m.
  const int64_t num_rows = batch.shape().num_rows();
  if (batch.shape().space == AffineSpace::kSortedGaps) {
    for (int64_t r = num_rows - 1; r-- > 0;) {
      float* here = residual + (r + 1) * kTileVoxels;
      for (int64_t v = 0; v < kTileVoxels; ++v) here[v] += here[v + kTileVoxels];
    }
  }
  for (int64_t r = 0; r < num_rows; ++r) {
    const float* from = residual + (r + 1) * kTileVoxels;
    float* to = residual + r * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) to[v] = -from[v];
    ZeroTies(batch, r, to);
  }
}

void ZeroTies(const ExpertBatch& batch, int64_t row, float* values) noexcept {
  if (batch.shape().space != AffineSpace::kSortedGaps) return;
  const float* feature = batch.features() + row * kTileVoxels;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (feature[v] == 0.0f) values[v] = 0.0f;
  }
}

}  // namespace segcal
