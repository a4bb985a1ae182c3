// SPDX-License-Identifier: Apache-2.0
#include "train/losses/patch.h"

#include <cmath>

namespace segcal::train {
namespace {

Tensor PadLabels(const Tensor& one_hot, int64_t width, PatchPadding padding) {
  const std::vector<int64_t> widths(static_cast<size_t>(2 * (one_hot.dim() - 2)), width);
  if (width == 0) return one_hot;
  if (padding == PatchPadding::kReplicate) return at::pad(one_hot, widths, "replicate");
  return at::cat({at::constant_pad_nd(one_hot.slice(1, 0, 1), widths, 1.0),
                  at::constant_pad_nd(one_hot.slice(1, 1), widths, 0.0)},
                 1);
}

}  // namespace

Patch EvenPatch(int64_t size, int64_t axes) {
  Patch patch = {{.at = {}}};
  for (int64_t axis = 0; axis < axes; ++axis) {
    Patch longer;
    for (const PatchVoxel& voxel : patch) {
      for (int64_t x = 0; x < size; ++x) {
        longer.push_back(voxel);
        longer.back().at.push_back(x);
      }
    }
    patch = std::move(longer);
  }
  return patch;
}

Patch GaussianPatch(int64_t size, int64_t axes, double sigma) {
  Patch patch = EvenPatch(size, axes);
  for (PatchVoxel& voxel : patch) {
    double squared = 0.0;
    for (const int64_t x : voxel.at)
      squared += static_cast<double>((x - size / 2) * (x - size / 2));
    voxel.weight = std::exp(-squared / (2.0 * sigma * sigma));
  }
  return patch;
}

Tensor PatchSums(const Tensor& one_hot, const Patch& patch, int64_t size, PatchPadding padding) {
  const Tensor padded = PadLabels(one_hot, size / 2, padding);
  Tensor total = at::zeros_like(one_hot);
  for (const PatchVoxel& voxel : patch) {
    Tensor window = padded;
    for (size_t axis = 0; axis < voxel.at.size(); ++axis) {
      const auto dim = static_cast<int64_t>(axis) + 2;
      window = window.narrow(dim, voxel.at[axis], one_hot.size(dim));
    }
    total.add_(window, voxel.weight);
  }
  return total;
}

}  // namespace segcal::train
