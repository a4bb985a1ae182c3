// SPDX-License-Identifier: Apache-2.0
#include "train/losses/dice.h"

#include "core/throw.h"

namespace segcal::train {

Tensor WithoutBackground(const Tensor& values, bool include_background) {
  if (include_background) return values;
  if (values.size(1) < 2) {
    Throw(ErrorCode::kInvalidArgument,
          "include_background=false: there is no class beside the background");
  }
  return values.slice(1, 1);
}

Tensor SoftDice(const LossBatch& batch, double smooth, bool include_background) {
  const Tensor truth = WithoutBackground(batch.OneHot(), include_background);
  const Tensor probs =
      WithoutBackground(batch.probs() * batch.valid().unsqueeze(1), include_background);
  const std::vector<int64_t> axes = SpatialAxes(truth);
  const Tensor common = (truth * probs).sum(axes);
  return ((2.0 * common + smooth) / (truth.sum(axes) + probs.sum(axes) + smooth)).mean();
}

}  // namespace segcal::train
