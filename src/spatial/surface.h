// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "spatial/grid.h"

namespace segcal {

// How the surfaces of one class lie to each other in labels and prediction, in the units of the
// grid's spacing (docs/methods/surface.md). NaN unless the class is in both.
struct SurfaceScores {
  bool labelled = false;   // the class is in the labels
  bool predicted = false;  // the class is in the prediction

  double mean_distance = std::numeric_limits<double>::quiet_NaN();  // (SF3)
  double hausdorff = std::numeric_limits<double>::quiet_NaN();      // (SF4)
  double hausdorff95 = std::numeric_limits<double>::quiet_NaN();    // (SF5)
  double volume95 = std::numeric_limits<double>::quiet_NaN();       // (SF6)
  double surface_dice = std::numeric_limits<double>::quiet_NaN();   // (SF7)
  double band_dice = std::numeric_limits<double>::quiet_NaN();      // (SF8)
};

// The scores of every class. Voxels whose label is kNoLabel belong to no class in either map. Works
// class by class inside the box that holds the class in both maps: 20 bytes per voxel of the box.
std::vector<SurfaceScores> ScoreSurfaces(const VoxelGrid& grid,
                                         std::span<const int32_t> labels,
                                         std::span<const uint16_t> predicted,
                                         int64_t num_classes,
                                         double tolerance,
                                         int num_threads);

}  // namespace segcal
