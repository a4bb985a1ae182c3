// SPDX-License-Identifier: Apache-2.0
#include "optim/plateau.h"

#include <algorithm>

namespace segcal {

void UpdatePlateau(const PlateauOptions& options, double loss, PlateauState* state) noexcept {
  if (loss < state->best * (1.0 - options.threshold)) {
    state->best = loss;
    state->waited = 0;
    return;
  }
  state->waited += 1;
  if (state->waited <= options.patience) return;
  state->waited = 0;
  state->learning_rate =
      std::min(state->learning_rate,
               std::max(state->learning_rate * options.factor, options.min_learning_rate));
}

}  // namespace segcal
