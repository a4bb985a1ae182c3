// SPDX-License-Identifier: Apache-2.0
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct LabelSmoothingOptions {
  double alpha = 0.1;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("alpha", self.alpha, Between(0.0, 1.0));
  }
};

// Cross-entropy to (1 - alpha) y + alpha / C (LO7).
class LabelSmoothing final : public Loss {
 public:
  static constexpr const char* kName = "ls";
  explicit LabelSmoothing(const LabelSmoothingOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    const double rest = options_.alpha / static_cast<double>(batch.num_classes());
    return batch.SoftCrossEntropy((1.0 - options_.alpha) * batch.OneHot() + rest);
  }

 private:
  LabelSmoothingOptions options_;
};

}  // namespace

extern constinit const LossInfo kLabelSmoothing{
    .name = LabelSmoothing::kName,
    .summary = "Label smoothing: a share of every label goes to all classes",
    .reference = "Szegedy16",
    .default_options = &DefaultOptions<LabelSmoothingOptions>,
    .make = &MakeLossWith<LabelSmoothing, LabelSmoothingOptions>};

}  // namespace segcal::train
