// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/block_voxels.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "kernels/gram.h"

namespace segcal {

BlockVoxels::BlockVoxels(const AffineShape& shape,
                         const std::vector<const ExpertBatch*>& batches,
                         const ExpertWeights& weights,
                         int threads)
    : layout_(shape), stride_(GramStride(layout_.size)) {
  std::vector<int64_t> first;
  for (const ExpertBatch* batch : batches) {
    first.push_back(count_);
    count_ += batch->count();
  }
  vectors_ = reinterpret_cast<float*>(memory_.Reserve(count_ * stride_ * int64_t{sizeof(float)}));
  weights_.resize(static_cast<size_t>(layout_.num_blocks * count_));
  spread_.resize(layout_.by_feature ? static_cast<size_t>(count_) : 0);
  ParallelFor(static_cast<int64_t>(batches.size()), threads, [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    ThreadEvaluator(shape).WriteBlockVoxels(
        *batches[at],
        weights,
        {.vectors = vectors_ + first[at] * stride_,
         .stride = stride_,
         .weights = weights_.data() + first[at],
         .voxels = count_,
         .spread = spread_.empty() ? nullptr : spread_.data() + first[at]});
  });
}

// What is above the step is taken as it is; one of the others, in their order, for every step that
// they add up to.
std::vector<BlockVoxels::Chosen> BlockVoxels::Choose(int64_t b, int64_t most) const {
  const float* weight = weights_.data() + b * count_;
  const auto size_of = [&](int64_t v) {
    const float spread = spread_.empty() ? 1.0f : spread_[static_cast<size_t>(v)];
    return static_cast<double>(weight[v] * spread);
  };
  double total = 0.0;
  for (int64_t v = 0; v < count_; ++v) total += size_of(v);
  const double step = count_ > most ? total / static_cast<double>(most) : 0.0;
  std::vector<Chosen> chosen;
  double passed = 0.5 * step;
  for (int64_t v = 0; v < count_; ++v) {
    const double size = size_of(v);
    if (!(size > 0.0)) continue;
    double factor = 1.0;
    if (size < step) {
      passed += size;
      if (passed < step) continue;
      passed -= step;
      factor = step / size;
    }
    chosen.push_back({v, static_cast<float>(factor) * weight[v]});
  }
  return chosen;
}

void BlockVoxels::ComputeBlock(int64_t b, int64_t most, double scale, double* block) const {
  const std::vector<Chosen> chosen = Choose(b, most);
  const int64_t size = layout_.size;
  AlignedBuffer memory;
  const auto rows = static_cast<int64_t>(chosen.size());
  auto* gram =
      reinterpret_cast<float*>(memory.Reserve((size + rows) * stride_ * int64_t{sizeof(float)}));
  std::fill_n(gram, size * stride_, 0.0f);
  float* scaled = gram + size * stride_;
  std::vector<double> sums(static_cast<size_t>(layout_.by_feature ? size : 0));
  for (const Chosen& c : chosen) {
    const float* from = vectors_ + c.voxel * stride_;
    const float root = std::sqrt(c.weight);
    for (int64_t i = 0; i < stride_; ++i) scaled[i] = root * from[i];
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += static_cast<double>(c.weight) * static_cast<double>(from[i]);
    scaled += stride_;
  }
  AddGram(gram + size * stride_, rows, size, stride_, gram);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = i; j < size; ++j) {
      const auto product = static_cast<double>(gram[i * stride_ + j]);
      const double value = sums.empty() ? product : sums[static_cast<size_t>(j)] - product;  // (A9)
      block[i * size + j] = block[j * size + i] = scale * value;
    }
  }
}

int64_t BlockVoxels::Bytes(const AffineShape& shape, int64_t voxels) noexcept {
  const BlockLayout layout(shape);
  return voxels * (GramStride(layout.size) + layout.num_blocks + 1) * int64_t{sizeof(float)};
}

}  // namespace segcal
