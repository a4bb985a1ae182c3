// SPDX-License-Identifier: Apache-2.0
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct ConfidencePenaltyOptions {
  double lam = 0.1;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lam", self.lam, AtLeast(0.0));
  }
};

// Cross-entropy less lam times the entropy of the prediction, in nats (LO6).
class ConfidencePenalty final : public Loss {
 public:
  static constexpr const char* kName = "ecp";
  explicit ConfidencePenalty(const ConfidencePenaltyOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    // Where a class is impossible, -inf * 0 would be NaN.
    const Tensor log_probs = batch.log_probs().clamp_min(-1e4);
    const Tensor entropy = -(batch.probs() * log_probs).sum(1);
    return batch.CrossEntropy() - options_.lam * batch.Mean(entropy);
  }

 private:
  ConfidencePenaltyOptions options_;
};

}  // namespace

extern constinit const LossInfo kConfidencePenalty{
    .name = ConfidencePenalty::kName,
    .summary = "Cross-entropy less a share of the prediction's entropy",
    .reference = "Pereyra17",
    .default_options = &DefaultOptions<ConfidencePenaltyOptions>,
    .make = &MakeLossWith<ConfidencePenalty, ConfidencePenaltyOptions>};

}  // namespace segcal::train
