// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/stream.h"

namespace segcal::testing {

// Predictions and labels in memory, for tests of everything above the file formats.
struct Scene {
  Dataset dataset;
  std::vector<int64_t> shape;                           // spatial, of every case
  std::vector<std::vector<std::vector<float>>> logits;  // [case][member][c * voxels + v]
  std::vector<std::vector<int32_t>> labels;  // [case][v]; kNoLabel is stored as the ignore label
  std::vector<std::vector<uint8_t>> masks;   // [case][v], or empty

  int64_t num_voxels() const;
  // The data set over this memory, which must outlive it.
  Dataset InMemory() const;
  // A stream over this memory, which must outlive it.
  std::unique_ptr<CaseStream> Stream(int threads) const;
};

struct SceneOptions {
  uint64_t seed = 1;
  int64_t num_cases = 2;
  int64_t num_members = 1;
  int64_t num_classes = 5;
  std::vector<int64_t> shape = {37, 41};
  double scale = 2.0;      // spread of the logits
  double true_beta = 0.5;  // labels are drawn from softmax(true_beta * mean logits)
  double ignored = 0.1;    // share of ignored voxels
  double offset = 3.0;     // spread of the per-voxel offset
};

// Independent Gaussian logits plus a per-voxel offset, rounded to multiples of 2^-8 so that they
// are exact in float16 arithmetic up to 8; labels drawn from a known temperature.
Scene RandomScene(const SceneOptions& options);

// The scene with its logits moved a little apart: two equal largest ones are decided by the order
// of the classes, which a relabelling changes.
Scene WithoutTies(Scene scene);

}  // namespace segcal::testing
