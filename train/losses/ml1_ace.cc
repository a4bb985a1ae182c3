// SPDX-License-Identifier: Apache-2.0
#include "train/losses/dice.h"
#include "train/losses/loss.h"

namespace segcal::train {
namespace {

struct MarginalErrorOptions {
  double lam = 1.0;
  int64_t bins = 20;             // of equal width over [0, 1]
  std::string binning = "hard";  // a probability belongs to one bin, or linearly to the nearest two
  double dice = 0.0;             // times (1 - soft Dice) is added
  bool include_background = true;  // whether class 0 takes part in the calibration and Dice terms

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lam", self.lam, AtLeast(0.0));
    field("bins", self.bins, Between(1, 1000));
    field("binning", self.binning, OneOf({"hard", "soft"}));
    field("dice", self.dice, AtLeast(0.0));
    field("include_background", self.include_background, Any());
  }
};

// Cross-entropy plus lam times the mean over images and classes of the average calibration error of
// the class's probability (LO17).
class MarginalError final : public Loss {
 public:
  static constexpr const char* kName = "ml1_ace";
  explicit MarginalError(const MarginalErrorOptions& options) : options_(options) {}

  Tensor Compute(const LossBatch& batch) const override {
    const Tensor loss = batch.CrossEntropy() + options_.lam * Error(batch);
    if (options_.dice == 0.0) return loss;
    const Tensor dice = SoftDice(batch, kDiceSmooth, options_.include_background);
    return loss + options_.dice * (1.0 - dice);
  }

 private:
  // Mean over images and classes of the mean gap of the bins that are not empty.
  Tensor Error(const LossBatch& batch) const {
    const Tensor probs = WithoutBackground(batch.probs(), options_.include_background);
    const Tensor truth = WithoutBackground(batch.OneHot(), options_.include_background);
    const std::vector<int64_t> axes = SpatialAxes(probs);
    Tensor gaps = at::zeros({probs.size(0), probs.size(1)}, probs.options());
    Tensor filled = at::zeros_like(gaps);
    for (int64_t bin = 0; bin < options_.bins; ++bin) {
      const Tensor member = Membership(probs, bin) * batch.valid().unsqueeze(1);
      const Tensor mass = member.sum(axes);
      const Tensor full = mass > 0;
      const Tensor gap =
          (member * (probs - truth)).sum(axes) / at::where(full, mass, at::ones_like(mass));
      gaps = gaps + gap.abs();
      filled = filled + full.to(gaps.scalar_type());
    }
    return (gaps / filled.clamp_min(1.0)).mean();
  }

  // How much every probability belongs to a bin, (LO18) or (LO19).
  Tensor Membership(const Tensor& probs, int64_t bin) const {
    const auto bins = static_cast<double>(options_.bins);
    if (options_.binning == "hard") {
      const Tensor of = ((probs.detach() * bins).ceil() - 1.0).clamp(0.0, bins - 1.0);
      return (of == bin).to(probs.scalar_type());
    }
    const Tensor centre = (probs * bins - 0.5).clamp(0.0, bins - 1.0);
    return (1.0 - (centre - bin).abs()).clamp_min(0.0);
  }

  MarginalErrorOptions options_;
};

}  // namespace

extern constinit const LossInfo kMarginalError{
    .name = MarginalError::kName,
    .summary = "Cross-entropy and the average calibration error of every class",
    .reference = "Barfoot25",
    .default_options = &DefaultOptions<MarginalErrorOptions>,
    .make = &MakeLossWith<MarginalError, MarginalErrorOptions>};

}  // namespace segcal::train
