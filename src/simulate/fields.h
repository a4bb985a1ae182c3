// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace segcal {

// A stationary Gaussian random field: white noise smoothed by a bell of standard deviation `sigma`
// voxels per axis (0: none). Every value is exactly N(0, 1) up to rounding, also at the border,
// because the noise continues beyond it. Two values at distance d correlate as
// exp(-d^2 / (4 sigma^2)) to within 0.03 for sigma >= 1. Shape in C order; the work grows as the
// product of (size + 6 sigma).
std::vector<float> GaussianField(const std::vector<int64_t>& shape, double sigma, const Rng& rng);

// Smooths `values` by the same bell, of sum 1; beyond the border the edge value continues.
std::vector<float> SmoothClamped(const std::vector<int64_t>& shape,
                                 std::vector<float> values,
                                 double sigma);

int64_t NumVoxels(const std::vector<int64_t>& shape) noexcept;

}  // namespace segcal
