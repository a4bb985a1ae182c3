// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "segcal/dtype.h"

namespace segcal {

// Scores of every class at every voxel in the caller's memory: element (c, v) lies at
// data[c * class_stride + v * voxel_stride], strides in elements. A (C, H, W) array in C order has
// class_stride H*W and voxel_stride 1; a (H, W, C) array 1 and C.
struct ScoresView {
  const void* data = nullptr;
  DType dtype = DType::kF32;  // a float type
  int64_t num_classes = 0;
  int64_t num_voxels = 0;
  int64_t class_stride = 0;
  int64_t voxel_stride = 1;
  // Spatial extents, whose product is num_voxels: (H, W) or (D, H, W), voxels in C order. Only
  // calibrators that look at neighbours need it; empty: not said.
  std::vector<int64_t> shape = {};
};

// Three kinds of scores that look alike and mean different things; they do not convert into each
// other, so that passing one for another does not compile.
struct LogitsView : ScoresView {};
struct LogProbsView : ScoresView {};
struct ProbsView : ScoresView {};

// Where calibrated probabilities go; same layout rules.
struct ProbsSpan {
  float* data = nullptr;
  int64_t num_classes = 0;
  int64_t num_voxels = 0;
  int64_t class_stride = 0;
  int64_t voxel_stride = 1;
};

// Class indices; negative values take no part.
struct LabelsView {
  const int32_t* data = nullptr;
  int64_t num_voxels = 0;
};

}  // namespace segcal
