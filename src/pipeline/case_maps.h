// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/model.h"
#include "segcal/run_options.h"

namespace segcal {

// Results of one model on the slice of a case.
struct VoxelMaps {
  std::vector<int32_t> decision;   // of the uncalibrated pooled prediction
  std::vector<int32_t> predicted;  // of what the model emits
  std::vector<float> confidence;
  std::vector<float> temperature;  // empty: the calibrator does not divide by one; NaN where masked
  std::vector<float> local_error;  // (RG4); NaN where a window has no labelled voxel
};

// What a picture of one case needs: a slice of a volume, or the whole of an image, [height][width].
struct CaseMaps {
  std::string id;
  std::vector<int64_t> shape;  // of the case
  std::vector<double> spacing;
  int64_t width = 0;
  int64_t height = 1;
  int64_t depth = 1;               // slices of the case
  int64_t slice = 0;               // the one that is here
  int64_t radius = 0;              // of the windows of local_error
  std::vector<int32_t> labels;     // class index or -1; all -1 for a case without labels
  std::vector<VoxelMaps> models;   // as given
  std::vector<float> free_energy;  // of the first model's pooled logits; NaN where masked
};

// Bins of the map of local calibration error.
inline constexpr int64_t kMapBins = 10;

// Applies every model to the slice with the most voxels that are labelled and not background (among
// equals the one nearest to the middle). Keeps the slices that windows reach, not the volume.
CaseMaps MapCase(const Dataset& dataset,
                 int64_t case_index,
                 const std::vector<Model>& models,
                 const RunOptions& run);

}  // namespace segcal
