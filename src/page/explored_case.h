// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/planes.h"
#include "segcal/dataset.h"
#include "segcal/model.h"
#include "segcal/run_options.h"

namespace segcal {

// Which voxels of a case are looked at: every `step`-th of a row and of the rows, in some slices.
struct SampleGrid {
  int64_t height = 1;  // of the case
  int64_t width = 1;
  int64_t step = 1;
  std::vector<int64_t> slices;  // ascending
  int64_t rows = 1;             // that are looked at
  int64_t columns = 1;

  int64_t count() const noexcept { return static_cast<int64_t>(slices.size()) * rows * columns; }
  // The place of a voxel of the case among those looked at; -1: it is not.
  int64_t PlaceOf(int64_t voxel) const noexcept;
};

// At most 24 slices, evenly spaced, and a step that leaves no side longer than 512 and at most 2^18
// voxels in all.
SampleGrid MakeSampleGrid(const std::vector<int64_t>& shape);

// Classes whose probabilities are kept of a voxel: the ones that any pipeline gives most.
inline constexpr int64_t kLeadingClasses = 3;

// What the pipelines of a study emit for one case, on a grid. Probabilities are levels
// (page/planes.h), classes are index + 1, 0 where there is none.
struct ExploredCase {
  std::string id;
  SampleGrid grid;
  int64_t depth = 1;          // slices of the case
  double pixel_aspect = 1.0;  // height of a pixel over its width
  std::vector<uint8_t> labels;
  std::vector<std::vector<uint8_t>> leading;  // [kLeadingClasses, or fewer classes][voxel]

  struct PipelineMaps {
    std::vector<uint8_t> decision;   // before calibration
    std::vector<uint8_t> predicted;  // after
    std::vector<uint8_t> confidence;
    std::vector<std::vector<uint8_t>> probabilities;  // as `leading`
    std::vector<float> temperature;                   // empty: it does not divide by one
  };
  std::vector<PipelineMaps> pipelines;

  std::vector<float> free_energy;  // of the mean logits; empty: the data are not logits
  std::vector<uint8_t> image;      // [slice][row][column][channel]; empty: none
  int64_t image_channels = 1;      // 1 or 3
};

// Applies every model to one case, with the values that `apply` emits. At most 254 classes.
ExploredCase ExploreCase(const Dataset& dataset,
                         size_t case_index,
                         const std::vector<Model>& models,
                         const RunOptions& run);

}  // namespace segcal
