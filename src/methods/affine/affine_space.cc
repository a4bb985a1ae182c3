// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_space.h"

#include <algorithm>

#include "kernels/affine.h"

namespace segcal {
namespace {

// Raw logits may be as large as float32; beyond this, sums of them times weights would overflow.
constexpr double kMaxFeature = 1e28;

// In a segmentation most tiles lie in one region, and all voxels of an expert are neighbours.
bool AreNeighbours(std::span<const int32_t> voxels) {
  return voxels.back() - voxels.front() + 1 == static_cast<int32_t>(voxels.size());
}

// The values of these voxels: in place, or gathered in `scratch` [kTileVoxels].
const float* ValuesAt(std::span<const int32_t> voxels, const float* row, float* scratch) {
  if (AreNeighbours(voxels)) return row + voxels.front();
  for (size_t i = 0; i < voxels.size(); ++i) scratch[i] = row[voxels[i]];
  return scratch;
}

void DivideRow(double scale, size_t count, float* row) {
  const auto factor = static_cast<float>(1.0 / scale);  // exact: a power of two
  for (size_t i = 0; i < count; ++i) row[i] *= factor;
}

}  // namespace

BlockLayout::BlockLayout(const AffineShape& shape)
    : by_feature(shape.space == AffineSpace::kSortedGaps),
      num_features(shape.num_features()),
      num_blocks(by_feature ? num_features : shape.num_rows()),
      size(by_feature ? shape.num_rows() : num_features) {}

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
    for (size_t i = 0; i < voxels.size(); ++i) {
      AddSortedGaps(tile, voxels[i], count_ + static_cast<int64_t>(i));
    }
  } else if (shape_.space == AffineSpace::kWinnerGaps) {
    AddGaps(tile, voxels);
  } else {
    AddShifted(tile, voxels, log_norms);
  }
  count_ += static_cast<int64_t>(voxels.size());
}

void ExpertBatch::AddShifted(const Tile& tile,
                             std::span<const int32_t> voxels,
                             const float* log_norms) {
  const float* last = tile.logits + (tile.num_classes - 1) * kTileVoxels;
  alignas(64) double shift[kTileVoxels];
  for (size_t i = 0; i < voxels.size(); ++i) {
    const int32_t v = voxels[i];
    shift[i] = shape_.space == AffineSpace::kRaw        ? tile.offset[v] - shape_.centre
               : shape_.space == AffineSpace::kLogProbs ? -static_cast<double>(log_norms[v])
                                                        : -static_cast<double>(last[v]);
    labels_[count_ + static_cast<int64_t>(i)] = tile.labels[v];
  }
  float scratch[kTileVoxels];
  for (int64_t c = 0; c + 1 < shape_.num_features(); ++c) {
    const float* from = ValuesAt(voxels, tile.logits + c * kTileVoxels, scratch);
    float* to = features_ + c * kTileVoxels + count_;
    ShiftRow(from, shift, static_cast<int64_t>(voxels.size()), kMaxFeature, to);
    if (shape_.scale != 1.0) DivideRow(shape_.scale, voxels.size(), to);
  }
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

// The winner's shifted logit is zero, so the gaps are minus the others' logits.
void ExpertBatch::AddGaps(const Tile& tile, std::span<const int32_t> voxels) {
  float scratch[kTileVoxels];
  for (int64_t k = 0; k < shape_.num_rows(); ++k) {
    const float* from = ValuesAt(voxels, tile.logits + ClassAt(k + 1) * kTileVoxels, scratch);
    float* to = features_ + k * kTileVoxels + count_;
    for (size_t i = 0; i < voxels.size(); ++i) to[i] = -from[i];
  }
  for (size_t i = 0; i < voxels.size(); ++i) {
    const int32_t label = tile.labels[voxels[i]];
    labels_[count_ + static_cast<int64_t>(i)] = label == kNoLabel  ? kNoLabel
                                                : label == expert_ ? 0
                                                : label < expert_  ? label + 1
                                                                   : label;
  }
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

void ExpertBatch::ScoresFromGaps(const float* rows, float* scores) const noexcept {
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

int64_t ExpertBatch::ClassAt(int64_t position) const noexcept {
  if (!shape_.gaps()) return position;
  if (position == 0) return expert_;
  return position - 1 < expert_ ? position - 1 : position;
}

void ExpertBatch::Scatter(const float* values, float* rows) const noexcept {
  const bool neighbours = AreNeighbours(voxels());
  for (int64_t p = 0; p < shape_.num_classes; ++p) {
    const float* from = values + p * kTileVoxels;
    if (shape_.space == AffineSpace::kSortedGaps) {
      for (int64_t lane = 0; lane < count_; ++lane) {
        const auto c = order_[static_cast<size_t>(lane * shape_.num_classes + p)];
        rows[c * kTileVoxels + voxels_[static_cast<size_t>(lane)]] = from[lane];
      }
      continue;
    }
    float* to = rows + ClassAt(p) * kTileVoxels;
    if (neighbours) {
      std::copy_n(from, count_, to + voxels_[0]);
      continue;
    }
    for (int64_t lane = 0; lane < count_; ++lane) {
      to[voxels_[static_cast<size_t>(lane)]] = from[lane];
    }
  }
}

VoxelsByExpert::VoxelsByExpert(const AffineShape& shape)
    : per_decision_(shape.per_decision),
      begin_(static_cast<size_t>(shape.num_experts() + 1)),
      voxels_(static_cast<size_t>(kTileVoxels)) {}

void VoxelsByExpert::Assign(const Tile& tile, bool labelled_only) {
  const auto takes_part = [&](int64_t v) { return !labelled_only || tile.labels[v] != kNoLabel; };
  const auto expert_of = [&](int64_t v) { return per_decision_ ? size_t{tile.decision[v]} : 0; };
  // Runs of one expert are long: its counter is touched once for each.
  const auto for_each_run = [&](auto work) {
    for (int64_t v = 0; v < tile.count;) {
      const size_t expert = expert_of(v);
      const int64_t first = v;
      while (v < tile.count && expert_of(v) == expert) ++v;
      work(expert, first, v);
    }
  };
  std::fill(begin_.begin(), begin_.end(), 0);
  for_each_run([&](size_t expert, int64_t first, int64_t end) {
    int32_t count = 0;
    for (int64_t v = first; v < end; ++v) count += takes_part(v) ? 1 : 0;
    begin_[expert + 1] += count;
  });
  for (size_t e = 1; e < begin_.size(); ++e) begin_[e] += begin_[e - 1];
  // Filling moves every beginning to its end, which is the next beginning.
  for_each_run([&](size_t expert, int64_t first, int64_t end) {
    auto at = static_cast<size_t>(begin_[expert]);
    for (int64_t v = first; v < end; ++v) {
      if (takes_part(v)) voxels_[at++] = static_cast<int32_t>(v);
    }
    begin_[expert] = static_cast<int32_t>(at);
  });
  for (size_t e = begin_.size() - 1; e > 0; --e) begin_[e] = begin_[e - 1];
  begin_[0] = 0;
}

std::span<const int32_t> VoxelsByExpert::of(int64_t expert) const noexcept {
  const auto e = static_cast<size_t>(expert);
  return {voxels_.data() + begin_[e], static_cast<size_t>(begin_[e + 1] - begin_[e])};
}

}  // namespace segcal
