// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace segcal {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  // Whether weight decay shrinks the parameters themselves (AdamW, TR4) or adds to the gradient as
  // an l2 penalty does (TR3).
  bool decoupled = false;
};

// Running means of the gradient and of its square, and the steps they saw.
struct AdamMoments {
  std::vector<double> first;
  std::vector<double> second;
  int64_t steps = 0;
};

// One step of Adam (TR1-TR4) at this learning rate (options.learning_rate is not looked at: it
// changes with the schedule). The moments start empty.
void AdamStep(const AdamOptions& options,
              double learning_rate,
              std::span<const double> gradient,
              AdamMoments* moments,
              std::span<double> parameters);

}  // namespace segcal
