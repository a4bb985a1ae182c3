// SPDX-License-Identifier: Apache-2.0
#include "core/throw.h"
#include "train/losses/loss.h"
#include "train/losses/patch.h"

namespace segcal::train {
namespace {

struct NeighbourAwareOptions {
  double lam = 0.1;
  std::string prior = "mean";         // of the labels in the patch
  std::string penalty = "l1";         // of the distance from it
  std::string on = "logits";          // what is drawn to it
  std::string over_classes = "sum";   // as the paper prints it; its authors' code has the mean
  int64_t patch = 3;                  // voxels per axis, odd
  double sigma = 1.0;                 // of the Gaussian prior, in voxels
  std::string padding = "replicate";  // labels beyond the border; "zero": class 0

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lam", self.lam, AtLeast(0.0));
    field("prior", self.prior, OneOf({"mean", "gaussian", "max", "min", "median", "mode"}));
    field("penalty", self.penalty, OneOf({"l1", "l2"}));
    field("on", self.on, OneOf({"logits", "softmax"}));
    field("over_classes", self.over_classes, OneOf({"sum", "mean"}));
    field("patch", self.patch, Between(1, 31));
    field("sigma", self.sigma, Positive());
    field("padding", self.padding, OneOf({"replicate", "zero"}));
  }
};

// Sums to one over classes; all zero where every voxel of the patch is ignored.
Tensor Normalised(const Tensor& sums) {
  return sums / sums.sum(1, /*keepdim=*/true).clamp_min(1e-6);
}

// The class with the largest or smallest index in the patch, the middle one, or the most frequent;
// ties to the smallest (LO16). counts (N, C, spatial...), whole numbers.
Tensor ChooseClass(const Tensor& counts, const std::string& prior) {
  const int64_t num_classes = counts.size(1);
  const Tensor classes = AlongClasses(at::arange(num_classes, counts.options()), counts.dim() - 2);
  // argmax may give any of several largest keys, so keys of classes in the patch differ.
  if (prior == "max") return ((counts > 0) * (classes + 1)).argmax(1);
  if (prior == "min") return ((counts > 0) * (num_classes - classes)).argmax(1);
  if (prior == "mode") return (counts * num_classes + (num_classes - 1 - classes)).argmax(1);
  const Tensor reached = 2 * counts.cumsum(1) >= counts.sum(1, /*keepdim=*/true);
  return (reached * (num_classes - classes)).argmax(1);
}

// Cross-entropy plus lam times the distance of the logits from a prior of the labels around (LO13).
class NeighbourAware final : public Loss {
 public:
  static constexpr const char* kName = "nacl";
  explicit NeighbourAware(const NeighbourAwareOptions& options) : options_(options) {
    if (options_.patch % 2 == 0) {
      Throw(ErrorCode::kInvalidArgument,
            "nacl: patch: {}, an odd number of voxels is required",
            options_.patch);
    }
  }

  Tensor Compute(const LossBatch& batch) const override {
    const Tensor scores = options_.on == "logits" ? batch.logits() : batch.probs();
    const Tensor gaps = Prior(batch) - scores;
    const Tensor distances = options_.penalty == "l1" ? gaps.abs() : gaps.square();
    const Tensor per_voxel = options_.over_classes == "sum" ? distances.sum(1) : distances.mean(1);
    return batch.CrossEntropy() + options_.lam * batch.Mean(per_voxel);
  }

 private:
  // The prior of every voxel, (N, C, spatial...); no gradient passes.
  Tensor Prior(const LossBatch& batch) const {
    const Tensor one_hot = batch.OneHot();
    const bool is_gaussian = options_.prior == "gaussian";
    const int64_t axes = batch.spatial_axes();
    const Tensor sums = PatchSums(one_hot,
                                  is_gaussian ? GaussianPatch(options_.patch, axes, options_.sigma)
                                              : EvenPatch(options_.patch, axes),
                                  options_.patch,
                                  Padding());
    if (is_gaussian || options_.prior == "mean") return Normalised(sums);
    const Tensor chosen = ChooseClass(sums.round().to(at::kLong), options_.prior);
    return at::zeros_like(one_hot).scatter_(1, chosen.unsqueeze(1), 1.0);
  }

  PatchPadding Padding() const {
    return options_.padding == "zero" ? PatchPadding::kZero : PatchPadding::kReplicate;
  }

  NeighbourAwareOptions options_;
};

}  // namespace

extern constinit const LossInfo kNeighbourAware{
    .name = NeighbourAware::kName,
    .summary = "Cross-entropy; logits are drawn to the labels around a voxel",
    .reference = "Murugesan23",
    .default_options = &DefaultOptions<NeighbourAwareOptions>,
    .make = &MakeLossWith<NeighbourAware, NeighbourAwareOptions>};

}  // namespace segcal::train
