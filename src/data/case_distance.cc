// SPDX-License-Identifier: Apache-2.0
#include "data/case_distance.h"

#include <algorithm>
#include <cmath>

#include "core/parallel_pool.h"
#include "data/case_labels.h"
#include "spatial/boundary.h"
#include "spatial/distance.h"

namespace segcal {
namespace {

constexpr double kLargest = kNoSource - 1;

// Whether no squared distance passes 32 bits.
bool FitsIntegers(const VoxelGrid& grid) {
  double diagonal = 0.0;
  for (const int64_t side : grid.size)
    diagonal += static_cast<double>(side) * static_cast<double>(side);
  return diagonal < kLargest;
}

std::vector<int32_t> InVoxels(const VoxelGrid& grid,
                              const std::vector<int32_t>& labels,
                              int num_threads) {
  if (FitsIntegers(grid)) return SquaredBoundaryDistances(grid, labels, num_threads);
  const std::vector<double> exact =
      SquaredDistances(grid, LabelBoundary(grid, labels, num_threads), num_threads);
  std::vector<int32_t> squared(exact.size());
  std::transform(exact.begin(), exact.end(), squared.begin(), [](double x) {
    return std::isinf(x) ? kNoSource : static_cast<int32_t>(std::min(x, kLargest));
  });
  return squared;
}

}  // namespace

CaseDistances SquaredCaseDistances(const CaseReader& reader, bool with_lengths, int num_threads) {
  // The others may be at work on other cases; those that wait for this one help.
  const ThreadLimit none_new(0);
  const std::vector<int32_t> labels = ReadAllLabels(reader);
  CaseDistances distances{.voxels = InVoxels(MakeGrid(reader.shape()), labels, num_threads),
                          .lengths = {}};
  if (with_lengths) {
    const VoxelGrid grid = MakeGrid(reader.shape(), reader.spacing());
    distances.lengths =
        SquaredDistances(grid, LabelBoundary(grid, labels, num_threads), num_threads);
  }
  return distances;
}

}  // namespace segcal
