// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/fit.h"
#include "segcal/model.h"

namespace segcal {

// Per-voxel results of one model on one case, in C order.
struct VoxelMaps {
  std::vector<int32_t> predicted;
  std::vector<float> confidence;
  std::vector<float> temperature;  // empty: the calibrator does not divide by one; NaN where masked
};

// What a picture of one case needs.
struct CaseMaps {
  std::string id;
  std::vector<int64_t> shape;
  std::vector<double> spacing;
  std::vector<int32_t> labels;     // class index or -1; all -1 for a case without labels
  std::vector<VoxelMaps> models;   // as given
  std::vector<float> free_energy;  // of the first model's pooled logits; NaN where masked
};

// Applies every model to one case and keeps the maps of all its voxels.
CaseMaps MapCase(const Dataset& dataset,
                 int64_t case_index,
                 const std::vector<Model>& models,
                 const RunOptions& run);

}  // namespace segcal
