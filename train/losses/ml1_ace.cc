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
  // Bins that probabilities belong to, and how much; one share for all where it has no shape.
  struct Membership {
    Tensor bins;
    Tensor share;
  };

  // Mean over images and classes of the mean gap of the bins that are not empty.
  Tensor Error(const LossBatch& batch) const {
    const Tensor probs = WithoutBackground(batch.probs(), options_.include_background);
    const Tensor truth = WithoutBackground(batch.OneHot(), options_.include_background);
    // One row per image and class. Sums are in double: a bin may hold most voxels of an image.
    const int64_t rows = probs.size(0) * probs.size(1);
    Tensor gaps = at::zeros({rows, options_.bins}, probs.options().dtype(at::kDouble));
    Tensor mass = at::zeros_like(gaps);
    const Tensor valid = batch.valid().unsqueeze(1).expand_as(probs);
    for (const auto& [bins, share] : Memberships(probs)) {
      const Tensor at = bins.reshape({rows, -1});
      const Tensor member = share * valid;
      const Tensor gap = (member * (probs - truth)).reshape({rows, -1});
      gaps = gaps.scatter_add(1, at, gap.to(at::kDouble));
      mass = mass.scatter_add(1, at, member.reshape({rows, -1}).to(at::kDouble));
    }
    const Tensor full = mass > 0;
    const Tensor means = gaps.abs() / at::where(full, mass, at::ones_like(mass));
    return (means.sum(1) / full.sum(1).clamp_min(1)).mean().to(probs.scalar_type());
  }

  // (LO18) or (LO19).
  std::vector<Membership> Memberships(const Tensor& probs) const {
    const auto bins = static_cast<double>(options_.bins);
    if (options_.binning == "hard") {
      const Tensor of = ((probs.detach() * bins).ceil() - 1.0).clamp(0.0, bins - 1.0);
      return {{.bins = of.to(at::kLong), .share = at::ones({}, probs.options())}};
    }
    const Tensor centre = (probs * bins - 0.5).clamp(0.0, bins - 1.0);
    const Tensor low = centre.detach().floor();
    const Tensor share = centre - low;
    return {{.bins = low.to(at::kLong), .share = 1.0 - share},
            {.bins = (low + 1.0).clamp_max(bins - 1.0).to(at::kLong), .share = share}};
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
