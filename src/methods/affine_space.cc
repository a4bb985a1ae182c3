// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_space.h"

#include <algorithm>

#include "kernels/affine.h"

namespace segcal {

ExpertBatch::ExpertBatch(const AffineShape& shape, int64_t expert)
    : shape_(shape), expert_(expert), voxels_(static_cast<size_t>(kTileVoxels)) {
  const int64_t feature_bytes = shape.num_features() * kTileVoxels * int64_t{sizeof(float)};
  std::byte* p = memory_.Reserve(feature_bytes + kTileVoxels * int64_t{sizeof(int32_t)});
  features_ = reinterpret_cast<float*>(p);
  labels_ = reinterpret_cast<int32_t*>(p + feature_bytes);
  const int64_t ones = (shape.num_features() - 1) * kTileVoxels;
  std::fill_n(features_, ones, 0.0f);
  std::fill_n(features_ + ones, kTileVoxels, 1.0f);
  if (shape.space == AffineSpace::kSortedGaps)
    order_.resize(static_cast<size_t>(kTileVoxels * shape.num_classes));
  Clear();
}

void ExpertBatch::Clear() noexcept {
  count_ = 0;
  std::fill_n(labels_, kTileVoxels, kNoLabel);
}

void ExpertBatch::Add(const Tile& tile, int64_t v, float log_norm) {
  const int64_t lane = count_++;
  voxels_[static_cast<size_t>(lane)] = v;
  if (shape_.space == AffineSpace::kSortedGaps) return AddSortedGaps(tile, v, lane);
  if (shape_.space == AffineSpace::kWinnerGaps) return AddGaps(tile, v, lane);
  double shift = 0.0;
  if (shape_.space == AffineSpace::kRaw) shift = tile.offset[v];
  if (shape_.space == AffineSpace::kLogProbs) shift = -static_cast<double>(log_norm);
  if (shape_.space == AffineSpace::kDifferences) {
    shift = -static_cast<double>(tile.logits[(tile.num_classes - 1) * kTileVoxels + v]);
  }
  for (int64_t c = 0; c + 1 < shape_.num_features(); ++c) {
    const double u = static_cast<double>(tile.logits[c * kTileVoxels + v]);
    features_[c * kTileVoxels + lane] = static_cast<float>(u + shift);
  }
  labels_[lane] = tile.labels[v];
}

void ExpertBatch::AddColumn(const float* features, int32_t label, float weight) {
  if (weights_.empty()) weights_.resize(static_cast<size_t>(kTileVoxels), 0.0f);
  const int64_t lane = count_++;
  for (int64_t k = 0; k + 1 < shape_.num_features(); ++k) {
    features_[k * kTileVoxels + lane] = features[k];
  }
  labels_[lane] = label;
  weights_[static_cast<size_t>(lane)] = weight;
}

void ExpertBatch::CopyLast(float* features, int32_t* label) const noexcept {
  const int64_t lane = count_ - 1;
  for (int64_t k = 0; k + 1 < shape_.num_features(); ++k)
    features[k] = features_[k * kTileVoxels + lane];
  *label = labels_[lane];
}

// The winner's shifted logit is zero up to rounding ties, so the gaps are minus the others' logits.
void ExpertBatch::AddGaps(const Tile& tile, int64_t v, int64_t lane) {
  for (int64_t c = 0, k = 0; c < tile.num_classes; ++c) {
    if (c == expert_) continue;
    features_[k++ * kTileVoxels + lane] = -tile.logits[c * kTileVoxels + v];
  }
  const int32_t label = tile.labels[v];
  labels_[lane] = label == kNoLabel  ? kNoLabel
                  : label == expert_ ? 0
                                     : label + (label < expert_ ? 1 : 0);
}

// Sorted descending, the decision first, equal logits in class order.
void ExpertBatch::AddSortedGaps(const Tile& tile, int64_t v, int64_t lane) {
  uint16_t* order = order_.data() + lane * tile.num_classes;
  order[0] = static_cast<uint16_t>(expert_);
  const auto logit = [&](int64_t c) { return tile.logits[c * kTileVoxels + v]; };
  int64_t filled = 1;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    if (c == expert_) continue;
    // Insertion from the end: logits of neighbouring classes are in no order, and C is small.
    int64_t k = filled++;
    for (; k > 1 && logit(order[k - 1]) < logit(c); --k) order[k] = order[k - 1];
    order[k] = static_cast<uint16_t>(c);
  }
  float above = 0.0f;
  labels_[lane] = tile.labels[v] == kNoLabel ? kNoLabel : 0;
  for (int64_t k = 1; k < tile.num_classes; ++k) {
    const float here = logit(order[k]);
    features_[(k - 1) * kTileVoxels + lane] = above - here;
    above = here;
    if (tile.labels[v] == order[k]) labels_[lane] = static_cast<int32_t>(k);
  }
}

void ExpertBatch::ScoresFromRows(const float* rows, float* scores) const noexcept {
  if (!shape_.gaps()) {
    std::copy_n(rows, shape_.num_rows() * kTileVoxels, scores);
    return;
  }
  std::fill_n(scores, kTileVoxels, 0.0f);
  const bool sorted = shape_.space == AffineSpace::kSortedGaps;
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    const float* gap = rows + r * kTileVoxels;
    const float* above = scores + (sorted ? r : 0) * kTileVoxels;
    const float* feature = features_ + r * kTileVoxels;
    float* below = scores + (r + 1) * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      below[v] = above[v] - (sorted && feature[v] == 0.0f ? 0.0f : gap[v]);
    }
  }
}

void ExpertBatch::RowsFromScores(float* residual) const noexcept {
  if (!shape_.gaps()) return;
  // d(score of position j) / d(gap m) = -1 for j = m, sorted for all j >= m.
  const int64_t num_rows = shape_.num_rows();
  if (shape_.space == AffineSpace::kSortedGaps) {
    for (int64_t r = num_rows - 1; r-- > 0;) {
      float* here = residual + (r + 1) * kTileVoxels;
      for (int64_t v = 0; v < kTileVoxels; ++v) here[v] += here[v + kTileVoxels];
    }
  }
  for (int64_t r = 0; r < num_rows; ++r) {
    const float* from = residual + (r + 1) * kTileVoxels;
    float* to = residual + r * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) to[v] = -from[v];
    ZeroTies(r, to);
  }
}

void ExpertBatch::ZeroTies(int64_t row, float* values) const noexcept {
  if (shape_.space != AffineSpace::kSortedGaps) return;
  const float* feature = features_ + row * kTileVoxels;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (feature[v] == 0.0f) values[v] = 0.0f;
  }
}

int64_t ExpertBatch::ClassAt(int64_t lane, int64_t position) const noexcept {
  if (!shape_.gaps()) return position;
  if (shape_.space == AffineSpace::kSortedGaps)
    return order_[static_cast<size_t>(lane * shape_.num_classes + position)];
  if (position == 0) return expert_;
  return position - 1 < expert_ ? position - 1 : position;
}

}  // namespace segcal
