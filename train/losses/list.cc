// SPDX-License-Identifier: Apache-2.0
#include "core/throw.h"
#include "train/losses/loss.h"

namespace segcal::train {

extern const LossInfo kCrossEntropy, kCrossEntropyDice, kFocal, kConfidencePenalty, kLabelSmoothing;
extern const LossInfo kSpatialLabelSmoothing, kMarginLabelSmoothing, kMaximumMeanError;
extern const LossInfo kNeighbourAware, kMarginalError;

// As the paper's table of losses has them.
const std::vector<const LossInfo*>& Losses() {
  static const std::vector<const LossInfo*> losses = {&kCrossEntropy,
                                                      &kCrossEntropyDice,
                                                      &kFocal,
                                                      &kConfidencePenalty,
                                                      &kLabelSmoothing,
                                                      &kSpatialLabelSmoothing,
                                                      &kMarginLabelSmoothing,
                                                      &kMaximumMeanError,
                                                      &kNeighbourAware,
                                                      &kMarginalError};
  return losses;
}

std::unique_ptr<Loss> MakeLoss(const std::string& name, const OptionMap& options) {
  std::vector<std::string> names;
  for (const LossInfo* info : Losses()) {
    if (name == info->name) return info->make(options);
    names.emplace_back(info->name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown loss \"{}\"; there are {}",
        name,
        fmt::join(names, ", "));
}

}  // namespace segcal::train
