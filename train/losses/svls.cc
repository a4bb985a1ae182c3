// SPDX-License-Identifier: Apache-2.0
#include "train/losses/svls.h"

#include <algorithm>

#include "train/losses/loss.h"

namespace segcal::train {
namespace {

constexpr int64_t kPatchSize = 3;

struct SpatialLabelSmoothingOptions {
  double sigma = 2.0;  // of the Gaussian, in voxels

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("sigma", self.sigma, Positive());
  }
};

// Cross-entropy to the mean of the label and the weighted labels of its neighbours.
class SpatialLabelSmoothing final : public Loss {
 public:
  static constexpr const char* kName = "svls";
  explicit SpatialLabelSmoothing(const SpatialLabelSmoothingOptions& options) : options_(options) {}
  Tensor Compute(const LossBatch& batch) const override {
    return batch.SoftCrossEntropy(SpatiallySmoothLabels(batch, options_.sigma));
  }

 private:
  SpatialLabelSmoothingOptions options_;
};

}  // namespace

Patch NeighbourWeights(int64_t axes, double sigma) {
  Patch patch = GaussianPatch(kPatchSize, axes, sigma);
  const std::vector<int64_t> centre(static_cast<size_t>(axes), kPatchSize / 2);
  std::erase_if(patch, [&](const PatchVoxel& voxel) { return voxel.at == centre; });
  double total = 0.0;
  for (const PatchVoxel& voxel : patch) total += voxel.weight;
  for (PatchVoxel& voxel : patch) voxel.weight /= total;
  return patch;
}

// Ignored neighbours are left out and the weights of the others scaled up; a voxel without any
// keeps its label as it is.
Tensor SpatiallySmoothLabels(const LossBatch& batch, double sigma) {
  const Tensor own = batch.OneHot();
  const Patch weights = NeighbourWeights(batch.spatial_axes(), sigma);
  const Tensor around = PatchSums(own, weights, kPatchSize, PatchPadding::kReplicate);
  const Tensor known = around.sum(1, /*keepdim=*/true);
  return 0.5 * (own + at::where(known > 0, around / known.clamp_min(1e-6), own));
}

extern constinit const LossInfo kSpatialLabelSmoothing{
    .name = SpatialLabelSmoothing::kName,
    .summary = "Label smoothing by the labels around a voxel",
    .reference = "Islam21",
    .default_options = &DefaultOptions<SpatialLabelSmoothingOptions>,
    .make = &MakeLossWith<SpatialLabelSmoothing, SpatialLabelSmoothingOptions>};

}  // namespace segcal::train
