// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_gaps.h"

#include <algorithm>

namespace segcal {
namespace {

template <class T>
void GapsToScores(const ExpertBatch& batch, const T* rows, T* scores) noexcept {
  std::fill_n(scores, kTileVoxels, T{0});
  const bool sorted = batch.shape().space == AffineSpace::kSortedGaps;
  for (int64_t r = 0; r < batch.shape().num_rows(); ++r) {
    const T* gap = rows + r * kTileVoxels;
    const T* above = scores + (sorted ? r : 0) * kTileVoxels;
    const float* feature = batch.features() + r * kTileVoxels;
    T* below = scores + (r + 1) * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      below[v] = above[v] - (sorted && feature[v] == 0.0f ? T{0} : gap[v]);
    }
  }
}

template <class T>
void SkipTies(const ExpertBatch& batch, int64_t row, T* values) noexcept {
  if (batch.shape().space != AffineSpace::kSortedGaps) return;
  const float* feature = batch.features() + row * kTileVoxels;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (feature[v] == 0.0f) values[v] = T{0};
  }
}

template <class T>
void ScoresToRows(const ExpertBatch& batch, T* residual) noexcept {
  if (!batch.shape().gaps()) return;
  // d(score of position j) / d(gap m) = -1 for j = m, sorted for all j >= m.
  const int64_t num_rows = batch.shape().num_rows();
  if (batch.shape().space == AffineSpace::kSortedGaps) {
    for (int64_t r = num_rows - 1; r-- > 0;) {
      T* here = residual + (r + 1) * kTileVoxels;
      for (int64_t v = 0; v < kTileVoxels; ++v) here[v] += here[v + kTileVoxels];
    }
  }
  for (int64_t r = 0; r < num_rows; ++r) {
    const T* from = residual + (r + 1) * kTileVoxels;
    T* to = residual + r * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) to[v] = -from[v];
    SkipTies(batch, r, to);
  }
}

}  // namespace

void ScoresFromGaps(const ExpertBatch& batch, const float* rows, float* scores) noexcept {
  GapsToScores(batch, rows, scores);
}

void ScoresFromGaps(const ExpertBatch& batch, const double* rows, double* scores) noexcept {
  GapsToScores(batch, rows, scores);
}

void RowsFromScores(const ExpertBatch& batch, float* residual) noexcept {
  ScoresToRows(batch, residual);
}

void RowsFromScores(const ExpertBatch& batch, double* residual) noexcept {
  ScoresToRows(batch, residual);
}

void ZeroTies(const ExpertBatch& batch, int64_t row, float* values) noexcept {
  SkipTies(batch, row, values);
}

}  // namespace segcal
