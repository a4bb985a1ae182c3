// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "simulate/streams.h"

namespace segcal {

// The standard Gumbel quantile of a uniform u in (0, 1): -log(-log u).
double GumbelFromUniform(double u) noexcept;

// The Gumbel number at the same quantile as the standard normal x: -log(-log Phi(x)), accurate in
// both tails.
double GumbelFromNormal(double x) noexcept;

// Probability of a standard normal above x.
double NormalUpperTail(double x) noexcept;

// Gumbel noise for every class and voxel of one case. With correlation 0 all numbers are
// independent; otherwise each class has a Gaussian field of that range, pushed through Phi and the
// Gumbel quantile, so that the marginal distribution is the same. Correlated fields take one float
// per class and voxel.
class LabelNoise {
 public:
  LabelNoise(const std::vector<int64_t>& shape,
             int64_t num_classes,
             double correlation,
             const CaseStreams& streams,
             int num_threads);

  double At(int64_t c, int64_t voxel) const noexcept;

 private:
  int64_t num_classes_;
  Rng independent_;
  std::vector<std::vector<float>> fields_;  // per class; empty without correlation
};

// argmax_c (log eta_c + noise_c): a draw from Categorical(eta).
int64_t DrawLabel(std::span<const double> log_eta, const LabelNoise& noise, int64_t voxel) noexcept;

}  // namespace segcal
