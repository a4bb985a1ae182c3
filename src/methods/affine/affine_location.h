// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "data/sample.h"
#include "methods/affine/affine_shape.h"

namespace segcal {

// The largest mean or spread of raw logits that can be fitted: float32 has a resolution of 0.06
// there, and the penalty of the bias at z = 0 a curvature that is 1e12 times that of the weights.
inline constexpr double kLargestRaw = 1e6;

// A fit of raw logits sees (z - centre) / scale (A10): far from zero, weights and biases would
// nearly tell the same, and float32 would keep few digits of what tells voxels apart. Nothing else
// is changed: W and b are those of z. Sets centre and scale of a raw shape from the labelled voxels
// of a sample, and leaves ordinary logits as they are. An Error where logits are so large that no
// digits are left; `name` is the method.
void LocateRawLogits(const TileSample& sample, const std::string& name, AffineShape* shape);

// Parameters of (z - centre) / scale as those of z, and back. Where these differ, biases sum to
// zero: what is common to all changes no probability, and would take digits from the rest.
std::vector<double> ParametersOfLogits(const AffineShape& shape, std::vector<double> parameters);
std::vector<double> ParametersAtCentre(const AffineShape& shape, std::vector<double> parameters);

}  // namespace segcal
