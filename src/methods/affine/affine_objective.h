// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exact_sum.h"
#include "data/stream.h"
#include "methods/affine/affine_shape.h"

namespace segcal {

// Parameters of every expert: [expert][row * num_features + feature].
using ExpertParameters = std::vector<std::vector<double>>;

// Sums over the labelled voxels of one expert: the negative log-likelihood and its gradient with
// respect to the expert's parameters.
struct ExpertSums {
  double count = 0.0;  // voxels, or what the voxels of a sample stand for
  double loss = 0.0;
  std::vector<double> gradient;
};

// All experts at once, in one pass over the data; those for which `exact` [expert] is set in double
// arithmetic, all others in float32. Empty: none.
std::vector<ExpertSums> AffinePass(const CaseStream& stream,
                                   const std::string& stage,
                                   const Pooling& pooling,
                                   const AffineShape& shape,
                                   const ExpertParameters& parameters,
                                   const std::vector<char>& exact = {});

// Negative log-likelihood of the maps on other data, for comparisons.
struct LossTotal {
  double loss = 0.0;
  double voxels = 0.0;
};
LossTotal TotalLoss(const CaseStream& stream,
                    const Pooling& pooling,
                    const AffineShape& shape,
                    const ExpertParameters& parameters);

}  // namespace segcal
