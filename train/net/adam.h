// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace segcal::train {

// Adam [Kingma15] on one vector of weights; its own state is two more.
struct Adam {
  at::Tensor mean;     // of gradients, decaying
  at::Tensor squares;  // of their squares
  int64_t steps = 0;

  static Adam For(const at::Tensor& weights) {
    return {.mean = at::zeros_like(weights), .squares = at::zeros_like(weights)};
  }
  // Moves the weights in place.
  void Step(const at::Tensor& gradient, double rate, at::Tensor* weights);
};

}  // namespace segcal::train
