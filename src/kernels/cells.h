// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/tile.h"

namespace segcal {

// Ranges of float32 values: cell k holds [lower[k], lower[k + 1]); the last start is infinity.
//
// lower[0] = 0 and lower[1] is the smallest positive float32: cell 0 is zero alone, cell 1 what is
// next to it. guess[i] is the cell of i / kCellGuesses, i = 0 .. kCellGuesses.
inline constexpr int64_t kCellGuesses = 1024;
struct CellEdges {
  std::span<const float> lower;
  std::span<const int32_t> guess;
};

// The cell of x in [0, 1], or of a little above 1. Scaling by a power of two is exact, so the guess
// is never too high.
inline int64_t FindCell(float x, const CellEdges& edges) noexcept {
  const auto step = static_cast<int64_t>(x * static_cast<float>(kCellGuesses));
  int64_t k = edges.guess[static_cast<size_t>(step < kCellGuesses ? step : kCellGuesses)];
  while (x >= edges.lower[static_cast<size_t>(k + 1)]) ++k;
  return k;
}

// FindCell(|x|) of the first `count` values. Whole vectors are read and written: both arrays are
// aligned [kTileVoxels], and what is past `count` are values too.
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
