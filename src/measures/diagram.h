// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measures/cells.h"

namespace segcal {

// Data behind a reliability diagram.
struct ReliabilityBin {
  double lower = 0.0;
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

// Which voxels and values a diagram is about: all voxels by confidence ("top_label"), those
// predicted as a class ("predicted"), or the probability of a class against the rest
// ("one_vs_rest").
struct ReliabilityDiagram {
  std::string kind;
  int64_t class_index = -1;  // -1: all
  std::vector<ReliabilityBin> bins;
};

// Sums of one cell (measures/cells.h): what every binned metric can be computed from.
struct CellTotals {
  std::string kind;  // as ReliabilityDiagram
  int64_t class_index = -1;
  int64_t band = 0;    // of distance; 0 where bands are not told apart
  double lower = 0.0;  // values in [lower, upper)
  double upper = 0.0;
  int64_t count = 0;
  int64_t correct = 0;
  double confidence_sum = 0.0;
};

std::vector<ReliabilityBin> RowsOf(const BinRule& rule, const std::vector<Bin>& bins);

// The groups of `sums` are (band, class), classes running fastest.
std::vector<CellTotals> CellsOf(const std::string& kind, const CellSums& sums, int64_t num_classes);

}  // namespace segcal
