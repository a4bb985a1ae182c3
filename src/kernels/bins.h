// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/tile.h"

namespace segcal {

// Sums of one confidence bin. `confidence` is summed in double in an order fixed per instruction
// set.
struct BinSums {
  int64_t count = 0;
  int64_t correct = 0;
  double confidence = 0.0;
};

// Equal-width bins over [0, 1] given by ascending float32 upper edges; a value x falls into the
// first bin k with x <= upper[k] (rule (lo, hi]) or x < upper[k] (rule [lo, hi)), values past the
// last edge into the last bin. The bin is floor(x * number of bins), corrected by comparison with
// the edges beside it, so every edge must lie within a bin of its place: float32 ones do up to
// 10000 bins.
struct BinEdges {
  std::span<const float> upper;
  bool closed_above = true;  // (lo, hi]
};

// bin[v] for n values in [0, 1].
void FindBins(const float* x, int64_t n, const BinEdges& edges, uint16_t* bin) noexcept;

// One-versus-rest reliability of every class: bins[c * edges.upper.size() + k].
void AddClasswiseBins(const float* probs,
                      const int32_t* labels,
                      int64_t num_classes,
                      const BinEdges& edges,
                      BinSums* bins) noexcept;

}  // namespace segcal
