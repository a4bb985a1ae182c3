// SPDX-License-Identifier: Apache-2.0
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

// Mean of -log p_y over the voxels that take part (LO1).
class CrossEntropy final : public Loss {
 public:
  static constexpr const char* kName = "ce";
  explicit CrossEntropy(const NoOptions&) {}
  Tensor Compute(const LossBatch& batch) const override { return batch.CrossEntropy(); }
};

}  // namespace

extern constinit const LossInfo kCrossEntropy{.name = CrossEntropy::kName,
                                              .summary = "Cross-entropy",
                                              .reference = "Murugesan23",
                                              .default_options = &DefaultOptions<NoOptions>,
                                              .make = &MakeLossWith<CrossEntropy, NoOptions>};

}  // namespace segcal::train
