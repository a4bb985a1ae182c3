// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "metrics/tiles_for_test.h"
#include "spatial/grid.h"

namespace segcal::testing {

// Voxels of one image as a metric sees them that knows where they lie.
struct Image {
  VoxelGrid grid;
  std::vector<Voxel> voxels;
  int64_t background = -1;

  Image(const std::vector<int64_t>& shape, std::vector<Voxel> of_voxels)
      : grid(MakeGrid(shape)), voxels(std::move(of_voxels)) {}

  std::vector<int32_t> Labels() const {
    std::vector<int32_t> labels;
    for (const Voxel& voxel : voxels) labels.push_back(voxel.label);
    return labels;
  }
};

// A family's accumulator after the tiles first, first + step, ... of an image.
inline std::unique_ptr<MetricAccumulator> Accumulate(const std::string& family,
                                                     const Image& image,
                                                     const OptionMap& options = {},
                                                     size_t first = 0,
                                                     size_t step = 1) {
  const auto num_classes = static_cast<int64_t>(image.voxels[0].probs.size());
  auto accumulator = Family(family).make(
      {.num_classes = num_classes, .background = image.background, .grid = image.grid}, options);
  const std::vector<OwnedTile> tiles = ToTiles(image.voxels);
  for (size_t t = first; t < tiles.size(); t += step) {
    accumulator->Add(tiles[t].View());
  }
  accumulator->Flush();
  return accumulator;
}

// Three smooth regions with noise, predictions that are mostly right, some
// voxels without label.
inline Image RandomImage(uint64_t seed, const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  Image image(shape, RandomVoxels(seed, size, 3));
  Rng rng(seed, 1);
  for (int64_t v = 0; v < size; ++v) {
    int32_t& label = image.voxels[static_cast<size_t>(v)].label;
    if (label != kNoLabel && rng.Below(20) != 0) label = static_cast<int32_t>(v * 3 / size);
  }
  return image;
}

}  // namespace segcal::testing
