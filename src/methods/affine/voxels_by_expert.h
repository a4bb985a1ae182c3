// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tile.h"
#include "methods/affine/affine_shape.h"

namespace segcal {

// The voxels of a tile by the expert they belong to; one per thread.
class VoxelsByExpert {
 public:
  explicit VoxelsByExpert(const AffineShape& shape);

  // Voxels without a label can be left out.
  void Assign(const Tile& tile, bool labelled_only);
  std::span<const int32_t> of(int64_t expert) const noexcept;

 private:
  bool per_decision_;
  std::vector<int32_t> begin_;   // [expert + 1]
  std::vector<int32_t> voxels_;  // grouped by expert, ascending
};

}  // namespace segcal
