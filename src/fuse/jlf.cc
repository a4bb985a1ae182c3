// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuse/method.h"

namespace segcal {
namespace {

// The weights M⁻¹1 / 1ᵀM⁻¹1 of (FU3), M = eeᵀ + αI with e_i = 1 - p_i (FU4). M is of rank one but
// for its ridge, so that its inverse is known in closed form (FU6), in O(n); the sum in the
// denominator is positive for every α > 0.
void WeighJointly(std::span<const double> reliability,
                  const FuseOptions& options,
                  std::span<double> weights) noexcept {
  const auto n = static_cast<double>(reliability.size());
  double sum = 0.0;
  double squares = 0.0;
  for (const double p : reliability) {
    sum += 1.0 - p;
    squares += (1.0 - p) * (1.0 - p);
  }
  const double alpha = options.ridge * squares / n;  // (FU5)
  // Nobody can be wrong: M is zero, and the limit of the weights is the same for all.
  const double slope = squares > 0.0 ? sum / (alpha + squares) : 0.0;
  double total = 0.0;
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1.0 - (1.0 - reliability[i]) * slope;
    total += weights[i];
  }
  for (double& weight : weights) weight /= total;
  if (options.clip)
    for (double& weight : weights) weight = std::max(weight, 0.0);
}

}  // namespace

extern constinit const FusionInfo kJointLabelFusion{
    .name = "jlf",
    .summary = "Joint label fusion: weights that make the expected error smallest.",
    .weigh = &WeighJointly};

}  // namespace segcal
