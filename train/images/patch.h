// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/rng.h"
#include "train/images/image_case.h"

namespace segcal::train {

// What is changed at random from patch to patch; 0 leaves it as it is.
struct AugmentOptions {
  bool flips = true;       // of every axis
  double scale = 0.2;      // sizes by a factor of e^-scale to e^scale
  double intensity = 0.1;  // standard deviation of a factor around 1 and of a shift, per patch
  double noise = 0.05;     // standard deviation per voxel

  bool operator==(const AugmentOptions&) const = default;
};

// Where a patch is in an image and how it is seen: voxel i of an axis is at first + i step.
struct PatchView {
  std::array<double, 3> first = {0.0, 0.0, 0.0};
  std::array<double, 3> step = {1.0, 1.0, 1.0};  // negative: mirrored
  double factor = 1.0;
  double shift = 0.0;
  double noise = 0.0;
  Rng grain{0, 0};
};

// A view at random, of a patch of `size` voxels; planes of a volume where its depth is 1. Inside
// the image as far as that is large enough, else around it.
PatchView DrawView(const Extent& image,
                   const Extent& size,
                   const AugmentOptions& augment,
                   const Rng& rng);

// The patch: intensities [channel][voxel] linearly interpolated, the labels of the nearest voxels.
// Outside the image intensities are 0, which is the mean, and there are no labels.
void CopyPatch(const ImageCase& image,
               const PatchView& view,
               const Extent& size,
               std::span<float> values,
               std::span<int64_t> labels);

}  // namespace segcal::train
