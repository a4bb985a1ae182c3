// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// Top label of emitted probabilities: confidence max_c q_c and its class, ties to the lowest.
void TopLabelTile(const float* probs,
                  int64_t num_classes,
                  float* confidence,
                  uint16_t* predicted) noexcept;

// Sums over the labelled voxels of a tile of emitted probabilities q, in double, within 1e-11 of
// themselves (Brier: or 1e-15 a voxel).
struct ScoreSums {
  int64_t count = 0;
  int64_t correct = 0;      // voxels with y = argmax q
  double confidence = 0.0;  // max_c q_c
  double log_loss = 0.0;    // -log q_y, as emitted
  double brier = 0.0;       // sum_c (q_c - [y = c])^2
  double entropy = 0.0;     // -sum_c q_c log q_c, 0 log 0 = 0
};

// Adds to count, correct and confidence, from what TopLabelTile found.
void AddTopLabelSums(const float* confidence,
                     const uint16_t* predicted,
                     const int32_t* labels,
                     ScoreSums* sums) noexcept;

// Adds to log_loss and brier.
void AddLossSums(const float* probs,
                 const float* log_label,
                 const int32_t* labels,
                 int64_t num_classes,
                 ScoreSums* sums) noexcept;

// Adds to entropy. On its own, because a logarithm of every probability takes longer than all other
// sums together.
void AddEntropySum(const float* probs,
                   const int32_t* labels,
                   int64_t num_classes,
                   ScoreSums* sums) noexcept;

}  // namespace segcal
