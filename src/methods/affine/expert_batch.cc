// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/expert_batch.h"

#include <algorithm>

#include "methods/affine/affine_features.h"

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
  Clear();
}

void ExpertBatch::Clear() noexcept {
  count_ = 0;
  std::fill_n(labels_, kTileVoxels, kNoLabel);
}

void ExpertBatch::Restart(int64_t expert) noexcept {
  expert_ = expert;
  Clear();
}

void ExpertBatch::Add(const Tile& tile, std::span<const int32_t> voxels, const float* log_norms) {
  if (voxels.empty()) return;
  std::copy(voxels.begin(), voxels.end(), voxels_.begin() + count_);
  if (shape_.space == AffineSpace::kSortedGaps) {
    order_.resize(static_cast<size_t>(kTileVoxels * shape_.num_classes));
  }
  WriteFeatures(shape_,
                expert_,
                tile,
                voxels,
                log_norms,
                {.features = features_ + count_,
                 .labels = labels_ + count_,
                 .order = order_.empty() ? nullptr : order_.data() + count_ * shape_.num_classes});
  count_ += static_cast<int64_t>(voxels.size());
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

void ExpertBatch::Scatter(const float* values, float* rows) const noexcept {
  if (count_ == 0) return;
  if (shape_.space == AffineSpace::kSortedGaps) return ScatterSorted(values, rows);
  const std::span<const int32_t> voxels(voxels_.data(), static_cast<size_t>(count_));
  const bool neighbours = AreNeighbours(voxels);
  for (int64_t p = 0; p < shape_.num_classes; ++p) {
    const float* from = values + p * kTileVoxels;
    float* to = rows + ClassAt(shape_, expert_, p) * kTileVoxels;
    if (neighbours) {
      std::copy_n(from, count_, to + voxels.front());
    } else {
      for (size_t lane = 0; lane < voxels.size(); ++lane) to[voxels[lane]] = from[lane];
    }
  }
}

void ExpertBatch::ScatterSorted(const float* values, float* rows) const noexcept {
  for (int64_t p = 0; p < shape_.num_classes; ++p) {
    const float* from = values + p * kTileVoxels;
    for (int64_t lane = 0; lane < count_; ++lane) {
      const auto c = order_[static_cast<size_t>(lane * shape_.num_classes + p)];
      rows[c * kTileVoxels + voxels_[static_cast<size_t>(lane)]] = from[lane];
    }
  }
}

}  // namespace segcal
