// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "methods/calibrator.h"

namespace segcal {

struct TemperatureOptions {
  // Stop when the slope of the mean loss (T3) is at most this.
  double gradient_tolerance = 1e-6;
  // Largest inverse temperature; reached only where every label is the argmax.
  double max_beta = 1e6;
  int64_t max_iterations = 100;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("gradient_tolerance", self.gradient_tolerance, Positive());
    field("max_beta", self.max_beta, Between(1.0, 1e6));
    field("max_iterations", self.max_iterations, AtLeast(1));
  }
};

struct TemperatureFit {
  double beta = 1.0;
  FitOutcome outcome;
};

// The inverse temperature that minimises the mean negative log-likelihood (T2). The problem is
// convex in beta, which it is not in T. Degenerate ends are defined and flagged.
TemperatureFit FitTemperature(const FitContext& context, const TemperatureOptions& options);

}  // namespace segcal
