// SPDX-License-Identifier: Apache-2.0
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct FocalOptions {
  double gamma = 3.0;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("gamma", self.gamma, AtLeast(0.0));
  }
};

// Mean of -(1 - p_y)^gamma log p_y (LO5).
class Focal final : public Loss {
 public:
  static constexpr const char* kName = "focal";
  explicit Focal(const FocalOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    const Tensor log_prob = batch.LogProbOfLabel();
    // 1 - p by expm1, which keeps its digits where p is near 1; the floor keeps the power's slope
    // finite where gamma < 1.
    const Tensor rest = (-log_prob.expm1()).clamp_min(1e-12);
    return batch.WeightedMean(-rest.pow(options_.gamma) * log_prob);
  }

 private:
  FocalOptions options_;
};

}  // namespace

extern constinit const LossInfo kFocal{.name = Focal::kName,
                                       .summary = "Focal loss: easy voxels count less",
                                       .reference = "Mukhoti20",
                                       .default_options = &DefaultOptions<FocalOptions>,
                                       .make = &MakeLossWith<Focal, FocalOptions>};

}  // namespace segcal::train
