// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/options.h"
#include "methods/shared/calibrator.h"

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

// What a temperature is fitted to: all labelled voxels, or those of them that a method selects.
struct TemperatureProblem {
  int64_t voxels = 0;  // taking part
  int64_t flat = 0;    // of them, those whose logits are all equal
  LabelMargins margins;
  TemperatureSums at_one;
  double start_beta = 1.0;  // a guess, and the sums there
  TemperatureSums at_start;
  int64_t passes = 1;  // over the data that made the above
  // Sums at beta: one pass, whose name in progress reports is `stage`.
  std::function<TemperatureSums(const std::string& stage, double beta)> evaluate;
};

// The inverse temperature that minimises the mean negative log-likelihood (T2). The problem is
// convex in beta, which it is not in T. Degenerate ends are defined and flagged.
TemperatureFit FitTemperature(const TemperatureProblem& problem, const TemperatureOptions& options);
// The same on all labelled voxels, as the survey found them.
TemperatureFit FitTemperature(const FitContext& context, const TemperatureOptions& options);

// The condition under which softmax(beta z) keeps the order of the classes.
Claim NonNegativeBeta(double beta);
// An Error naming the model file where beta is not one that a fit gives.
void CheckBeta(double beta, const TemperatureOptions& options, const std::string& where);

}  // namespace segcal
