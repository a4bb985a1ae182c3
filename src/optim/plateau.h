// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace segcal {

// Lowers the learning rate when the validation loss has stopped falling (TR5).
struct PlateauOptions {
  double factor = 0.5;      // in (0, 1]; 1: the rate never changes
  int64_t patience = 5;     // epochs without a new best that are forgiven
  double threshold = 1e-4;  // a new best is below best (1 - threshold)
  double min_learning_rate = 1e-6;
};

struct PlateauState {
  double learning_rate = 0.0;
  double best = std::numeric_limits<double>::infinity();
  int64_t waited = 0;  // epochs since the best
};

// After an epoch with this validation loss.
void UpdatePlateau(const PlateauOptions& options, double loss, PlateauState* state) noexcept;

}  // namespace segcal
