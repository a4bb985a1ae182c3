// SPDX-License-Identifier: Apache-2.0
#include "train/losses/dice.h"
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct CrossEntropyDiceOptions {
  double lam = 1.0;
  double smooth = kDiceSmooth;
  bool include_background = true;  // whether class 0 takes part in the Dice term

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lam", self.lam, AtLeast(0.0));
    field("smooth", self.smooth, AtLeast(0.0));
    field("include_background", self.include_background, Any());
  }
};

// Cross-entropy plus lam times (1 - soft Dice) (LO4).
class CrossEntropyDice final : public Loss {
 public:
  static constexpr const char* kName = "ce_dice";
  explicit CrossEntropyDice(const CrossEntropyDiceOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    const Tensor dice = SoftDice(batch, options_.smooth, options_.include_background);
    return batch.CrossEntropy() + options_.lam * (1.0 - dice);
  }

 private:
  CrossEntropyDiceOptions options_;
};

}  // namespace

extern constinit const LossInfo kCrossEntropyDice{
    .name = CrossEntropyDice::kName,
    .summary = "Cross-entropy and soft Dice",
    .reference = "Murugesan23",
    .default_options = &DefaultOptions<CrossEntropyDiceOptions>,
    .make = &MakeLossWith<CrossEntropyDice, CrossEntropyDiceOptions>};

}  // namespace segcal::train
