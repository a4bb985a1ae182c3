// SPDX-License-Identifier: Apache-2.0
#include "kernels/tree_weights.h"

#include "core/check.h"

namespace segcal {

TreeWeights::TreeWeights(const TreeShape& shape)
    : shape_(shape), packed_(static_cast<size_t>(packed_size()), 0.0f) {}

template <class Visit>
void TreeWeights::ForEach(const Visit& visit) const {
  int64_t parameter = 0;
  for (int64_t filter = 0; filter < shape_.score_filters(); ++filter) {
    for (int64_t tap = 0; tap < shape_.classes * kTreeTaps; ++tap)
      visit(parameter++, tap * kLanes + filter);
    visit(parameter++, bias_at() + filter);
  }
  if (!shape_.has_image()) return;
  for (int64_t tap = 0; tap < shape_.image_channels * kTreeTaps; ++tap)
    visit(parameter++, image_at() + tap);
  visit(parameter, bias_at() + kImageLeaf);
}

void TreeWeights::Pack(std::span<const double> parameters) {
  SEGCAL_DCHECK(static_cast<int64_t>(parameters.size()) == shape_.num_parameters());
  ForEach([&](int64_t parameter, int64_t packed) {
    packed_[static_cast<size_t>(packed)] =
        static_cast<float>(parameters[static_cast<size_t>(parameter)]);
  });
}

void TreeWeights::AddUnpacked(std::span<const double> gradient, std::span<double> out) const {
  SEGCAL_DCHECK(static_cast<int64_t>(gradient.size()) == packed_size());
  SEGCAL_DCHECK(static_cast<int64_t>(out.size()) == shape_.num_parameters());
  ForEach([&](int64_t parameter, int64_t packed) {
    out[static_cast<size_t>(parameter)] += gradient[static_cast<size_t>(packed)];
  });
}

}  // namespace segcal
