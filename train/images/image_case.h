// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "segcal/corrupt.h"
#include "segcal/dataset.h"

namespace segcal::train {

// Depth, height, width; images have depth 1.
using Extent = std::array<int64_t, 3>;
inline int64_t NumVoxels(const Extent& extent) noexcept {
  return extent[0] * extent[1] * extent[2];
}

// An image and its labels in memory.
struct ImageCase {
  std::string id;
  std::vector<int64_t> shape;  // spatial axes, as the files have them
  Extent extent = {1, 1, 1};
  int64_t channels = 1;
  std::vector<float> values;    // [channel][voxel]
  std::vector<int32_t> labels;  // class, or kNoLabel; empty: the case has none
};

struct ReadImagesOptions {
  bool needs_labels = false;
  // How many spatial axes the images have where no labels tell; 0: unknown, labels are needed.
  int64_t spatial_axes = 0;
  // 0: any; else what every image must have.
  int64_t channels = 0;
  // Corrupts every image on the way, as `segcal corrupt` does.
  std::optional<CorruptOptions> corrupt = {};
};

// Reads one case. What does not fit, image and labels of different sizes among it, is an Error that
// names the file.
ImageCase ReadImageCase(const Dataset& dataset,
                        const Case& entry,
                        const ReadImagesOptions& options);

// Reads all cases, each with the axes and channels of the first.
std::vector<ImageCase> ReadImageCases(const Dataset& dataset, ReadImagesOptions options);

// How intensities become what a network sees: (x - mean) / spread, per channel.
struct Normalisation {
  std::vector<double> mean;    // of all training images; empty: of each image by itself
  std::vector<double> spread;  // standard deviation

  // Over all voxels of all images.
  static Normalisation Of(const std::vector<ImageCase>& cases);
  void Apply(ImageCase* image) const;
};

}  // namespace segcal::train
