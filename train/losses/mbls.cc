// SPDX-License-Identifier: Apache-2.0
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct MarginLabelSmoothingOptions {
  double lam = 0.1;
  double margin = 5.0;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lam", self.lam, AtLeast(0.0));
    field("margin", self.margin, AtLeast(0.0));
  }
};

// Cross-entropy plus lam times the mean over classes of max(0, max_j l_j - l_c - margin) (LO10).
class MarginLabelSmoothing final : public Loss {
 public:
  static constexpr const char* kName = "mbls";
  explicit MarginLabelSmoothing(const MarginLabelSmoothingOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    const Tensor gaps = batch.logits().amax(1, /*keepdim=*/true) - batch.logits();
    const Tensor excess = (gaps - options_.margin).relu().mean(1);
    return batch.CrossEntropy() + options_.lam * batch.Mean(excess);
  }

 private:
  MarginLabelSmoothingOptions options_;
};

}  // namespace

extern constinit const LossInfo kMarginLabelSmoothing{
    .name = MarginLabelSmoothing::kName,
    .summary = "Cross-entropy; gaps between logits beyond a margin are penalised",
    .reference = "Liu22",
    .default_options = &DefaultOptions<MarginLabelSmoothingOptions>,
    .make = &MakeLossWith<MarginLabelSmoothing, MarginLabelSmoothingOptions>};

}  // namespace segcal::train
