// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/options.h"
#include "kernels/mixture.h"
#include "methods/shared/calibrator.h"

namespace segcal {

struct MixtureOptions {
  // Stop when the projected gradient of the mean loss (ET9) is at most this.
  double gradient_tolerance = 1e-6;
  int64_t max_iterations = 100;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("gradient_tolerance", self.gradient_tolerance, Positive());
    field("max_iterations", self.max_iterations, AtLeast(1));
  }
};

struct MixtureFit {
  Mixture mixture;
  FitOutcome outcome;
};

// Temperature and weights of (ET1) that minimise the mean negative log-likelihood (ET2), jointly,
// from the fitted temperature alone: a stationary point whose loss is not above that of temperature
// scaling.
MixtureFit FitMixture(const FitContext& context, const MixtureOptions& options);

}  // namespace segcal
