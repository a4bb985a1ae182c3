// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/options.h"
#include "methods/affine/affine_objective.h"
#include "methods/shared/calibrator.h"
#include "optim/box.h"

namespace segcal {

struct AffineOptions {
  // Penalties of (A4).
  double lambda = 0.0;
  double mu = 0.0;
  // Shrinkage toward the anchor: keeps the optimum finite where a class never occurs.
  double kappa = 1e-4;
  // What the map shrinks to: the fitted temperature, or the identity.
  std::string anchor = "temperature";
  // What (A4) sums over experts and at which gauge: ours, or as published (A11).
  std::string penalty = "ours";
  // Stop when the projected gradient of every expert's own mean objective is at most this.
  double gradient_tolerance = 1e-6;
  int64_t max_passes = 50;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lambda", self.lambda, AtLeast(0.0));
    field("mu", self.mu, AtLeast(0.0));
    field("kappa", self.kappa, AtLeast(0.0));
    field("anchor", self.anchor, OneOf({"temperature", "identity"}));
    field("penalty", self.penalty, OneOf({"ours", "paper"}));
    field("gradient_tolerance", self.gradient_tolerance, Positive());
    field("max_passes", self.max_passes, AtLeast(2));
  }
};

// Fits every expert of an affine family; `box` bounds one expert's parameters. Where the context
// asks for a search, lambda, mu and kappa are chosen by it, but for those the caller fixed.
FitOutcome FitAffine(const AffineShape& shape,
                     const Box& box,
                     const AffineOptions& options,
                     const FitContext& context,
                     ExpertParameters* parameters);

// Why a search may prefer strong penalties, by the labelled voxels of every expert. Ten
// observations per parameter is the usual least of regressions; voxels of one image say much the
// same, so that few images are few observations, however many voxels they have.
std::string WhyPenalised(const AffineShape& shape,
                         const std::vector<int64_t>& voxels,
                         const Dataset& dataset);

// Parameters of one expert that multiply all logits by beta.
std::vector<double> ScaledIdentity(const AffineShape& shape, double beta);

}  // namespace segcal
