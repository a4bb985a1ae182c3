// SPDX-License-Identifier: Apache-2.0
#include "optim/adam.h"

#include <cmath>

#include "core/check.h"

namespace segcal {

void AdamStep(const AdamOptions& options,
              double learning_rate,
              std::span<const double> gradient,
              AdamMoments* moments,
              std::span<double> parameters) {
  SEGCAL_DCHECK(gradient.size() == parameters.size());
  if (moments->steps == 0) {
    moments->first.assign(parameters.size(), 0.0);
    moments->second.assign(parameters.size(), 0.0);
  }
  SEGCAL_DCHECK(moments->first.size() == parameters.size());
  moments->steps += 1;
  // Corrections for the start from zero (TR2).
  const auto steps = static_cast<double>(moments->steps);
  const double step_size = learning_rate / (1.0 - std::pow(options.beta1, steps));
  const double root = std::sqrt(1.0 - std::pow(options.beta2, steps));
  for (size_t i = 0; i < parameters.size(); ++i) {
    double& theta = parameters[i];
    double g = gradient[i];
    if (options.decoupled) {
      theta *= 1.0 - learning_rate * options.weight_decay;
    } else {
      g += options.weight_decay * theta;
    }
    double& first = moments->first[i];
    double& second = moments->second[i];
    first += (g - first) * (1.0 - options.beta1);
    second = options.beta2 * second + (1.0 - options.beta2) * g * g;
    theta -= step_size * first / (std::sqrt(second) / root + options.epsilon);
  }
}

}  // namespace segcal
