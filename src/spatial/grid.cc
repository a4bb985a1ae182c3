// SPDX-License-Identifier: Apache-2.0
#include "spatial/grid.h"

#include <cmath>

#include "core/throw.h"

namespace segcal {

double VoxelGrid::Diagonal() const noexcept {
  double squared = 0.0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const double length = static_cast<double>(size[axis]) * spacing[axis];
    if (size[axis] > 1) squared += length * length;
  }
  return std::sqrt(squared);
}

VoxelGrid MakeGrid(std::span<const int64_t> shape, std::span<const double> spacing) {
  if (shape.empty() || shape.size() > 3) {
    Throw(ErrorCode::kInvalidArgument, "grid: {} axes; one, two or three are needed", shape.size());
  }
  if (!spacing.empty() && spacing.size() != shape.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "grid: {} spacings for {} axes; one per axis is needed",
          spacing.size(),
          shape.size());
  }
  VoxelGrid grid;
  const size_t first = 3 - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1) {
      Throw(ErrorCode::kInvalidArgument, "grid: axis {} has extent {}; at least 1", i, shape[i]);
    }
    grid.size[first + i] = shape[i];
    if (spacing.empty()) continue;
    if (!(spacing[i] > 0.0) || !std::isfinite(spacing[i])) {
      Throw(ErrorCode::kInvalidArgument,
            "grid: axis {} has spacing {}; a positive number is needed",
            i,
            spacing[i]);
    }
    grid.spacing[first + i] = spacing[i];
  }
  return grid;
}

VoxelGrid CropGrid(const VoxelGrid& grid, const VoxelBox& box) {
  VoxelGrid part{.size = {1, 1, 1}, .spacing = grid.spacing};
  for (size_t axis = 0; axis < 3; ++axis) part.size[axis] = box.end[axis] - box.begin[axis];
  return part;
}

}  // namespace segcal
