// SPDX-License-Identifier: Apache-2.0
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct MaximumMeanErrorOptions {
  double lam = 2.0;
  // Of the kernel exp(-|r - r'| / bandwidth) between confidences. The exponentials of (LO12) reach
  // exp(1 / bandwidth), which must stay far below the largest double.
  double bandwidth = 0.4;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lam", self.lam, AtLeast(0.0));
    field("bandwidth", self.bandwidth, AtLeast(0.02));
  }
};

// Cross-entropy plus lam times the maximum mean calibration error (LO11). Every voxel counts
// against every other: sorted by confidence, the double sum is a prefix sum (LO12).
class MaximumMeanError final : public Loss {
 public:
  static constexpr const char* kName = "mmce";
  explicit MaximumMeanError(const MaximumMeanErrorOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    return batch.CrossEntropy() + options_.lam * Error(batch).to(batch.logits().scalar_type());
  }

 private:
  Tensor Error(const LossBatch& batch) const {
    const auto [log_confidence, decision] = batch.log_probs().max(1);
    const Tensor valid = batch.valid().to(at::kDouble).flatten();
    Tensor confidence = log_confidence.to(at::kDouble).exp().flatten();
    const Tensor correct = (decision == batch.labels()).to(at::kDouble).flatten();
    Tensor gaps = (correct - confidence) * valid;
    const Tensor order = confidence.argsort();
    confidence = confidence.index_select(0, order);
    gaps = gaps.index_select(0, order);
    const Tensor rising = gaps * (confidence / options_.bandwidth).exp();
    const Tensor falling = gaps * (-confidence / options_.bandwidth).exp();
    const Tensor pairs = (falling * (rising.cumsum(0) - rising)).sum();
    const Tensor squared = gaps.square().sum() + 2.0 * pairs;
    // The square root has no slope at 0, which only a perfect or empty batch reaches.
    return (squared / valid.sum().clamp_min(1.0).square()).clamp_min(1e-16).sqrt();
  }

  MaximumMeanErrorOptions options_;
};

}  // namespace

extern constinit const LossInfo kMaximumMeanError{
    .name = MaximumMeanError::kName,
    .summary = "Cross-entropy and the maximum mean calibration error",
    .reference = "Kumar18",
    .default_options = &DefaultOptions<MaximumMeanErrorOptions>,
    .make = &MakeLossWith<MaximumMeanError, MaximumMeanErrorOptions>};

}  // namespace segcal::train
