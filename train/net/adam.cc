// SPDX-License-Identifier: Apache-2.0
#include "train/net/adam.h"

#include <cmath>

namespace segcal::train {
namespace {

// The values of the paper.
constexpr double kMeanDecay = 0.9;
constexpr double kSquaresDecay = 0.999;
constexpr double kSmallest = 1e-8;

}  // namespace

void Adam::Step(const at::Tensor& gradient, double rate, at::Tensor* weights) {
  ++steps;
  mean.mul_(kMeanDecay).add_(gradient, 1.0 - kMeanDecay);
  squares.mul_(kSquaresDecay).addcmul_(gradient, gradient, 1.0 - kSquaresDecay);
  const double n = static_cast<double>(steps);
  const double mean_share = 1.0 - std::pow(kMeanDecay, n);
  const double squares_share = 1.0 - std::pow(kSquaresDecay, n);
  const at::Tensor scale = squares.sqrt().div_(std::sqrt(squares_share)).add_(kSmallest);
  weights->addcdiv_(mean, scale, -rate / mean_share);
}

}  // namespace segcal::train
