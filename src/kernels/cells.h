// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tile.h"

namespace segcal {

// Ranges of float32 values: cell k holds [lower[k], lower[k + 1]); the last start is infinity.
//
// lower[0] = 0 and lower[1] is the smallest positive float32: cell 0 is zero alone, cell 1 what is
// next to it. Step i, from i / kCellGuesses up to the next one, begins in cell first and ends in
// cell last; the step of 1 holds all that is above, too.
inline constexpr int64_t kCellGuesses = 1024;
struct CellStep {
  int32_t first = 0;
  int32_t last = 0;
};
struct CellEdges {
  std::span<const float> lower;
  std::span<const CellStep> steps;  // kCellGuesses + 1
};

// The steps of such starts.
std::vector<CellStep> MakeCellSteps(std::span<const float> lower);

// The cell of x in [0, 1], or of a little above 1. Scaling by a power of two is exact, so the step
// is right. Edges of different rules lie a few floats apart with nothing between: most values are
// before or behind all of a step's edges, which is told without a branch.
inline int32_t FindCell(float x, const CellEdges& edges) noexcept {
  const auto at = static_cast<int32_t>(x * static_cast<float>(kCellGuesses));
  const CellStep step = edges.steps[static_cast<size_t>(at < kCellGuesses ? at : kCellGuesses)];
  const float* lower = edges.lower.data();
  // Floats that are not negative are ordered as their bits; of them the compiler makes no branch.
  const bool behind = std::bit_cast<int32_t>(x) >= std::bit_cast<int32_t>(lower[step.first + 1]);
  int32_t k = step.first + ((step.last - step.first) & -static_cast<int32_t>(behind));
  if (x < lower[k]) [[unlikely]] {
    for (k = step.first + 1; x >= lower[k + 1];) ++k;
  }
  return k;
}

// FindCell(|x|) of the first `count` values.
void FindCells(const float* x, int64_t count, const CellEdges& edges, int32_t* cells) noexcept;

// What of a row lies in cells 0 and 1. `confidence` is summed in double in an order fixed per
// instruction set.
struct LowSums {
  int64_t count = 0;  // zeros included
  int64_t correct = 0;
  int64_t zeros = 0;
  int64_t zeros_correct = 0;
  double confidence = 0.0;
};

// One-versus-rest view of a class's row of probabilities: labelled voxels below `low` (the start of
// cell 2) are summed; the others, few in a segmentation, are written in order to `others`
// [kTileVoxels], negative where the label is the class, and zeros behind them. Returns how many.
int64_t SplitRow(const float* row,
                 int32_t class_index,
                 const int32_t* labels,
                 float low,
                 LowSums* sums,
                 float* others) noexcept;

}  // namespace segcal
