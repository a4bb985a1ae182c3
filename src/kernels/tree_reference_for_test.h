// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tree.h"

// The tree again, voxel by voxel in double precision, as its equations read: what kernels/tree.h is
// tested against.
namespace segcal::reference {

// The temperature of one voxel of a strip, its derivatives by the filters' responses, and how far
// rounding of the responses to (25 C + 1) 2^-24 of their absolute terms can move it.
struct TreeVoxel {
  double temperature = 0.0;
  std::vector<double> slopes;  // [kMaxTreeFilters]
  double rounding = 0.0;
};
TreeVoxel Tree(const TreeShape& shape,
               std::span<const double> parameters,
               const TreeStrip& strip,
               int64_t y,
               int64_t x);

// -log softmax(scores / temperature)[label], and its derivative by the temperature.
struct VoxelLoss {
  double loss = 0.0;
  double slope = 0.0;
};
VoxelLoss LossAt(const TreeStrip& strip, int64_t y, int64_t x, int32_t label, double temperature);

// The sum over the labelled voxels of a strip, its gradient by the parameters, and the gradient
// with every term taken absolute: the scale of its rounding errors.
struct TreeSums {
  int64_t count = 0;
  double loss = 0.0;
  std::vector<double> gradient;
  std::vector<double> scale;
};
TreeSums Trees(const TreeShape& shape,
               std::span<const double> parameters,
               const TreeStrip& strip,
               const int32_t* labels,
               int64_t label_stride,
               int64_t columns);

}  // namespace segcal::reference
