// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/voxels_by_expert.h"

#include <algorithm>

namespace segcal {

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
