// SPDX-License-Identifier: Apache-2.0
#include "corrupt/corruption.h"

namespace segcal {
namespace {

// Mixes every pixel with white (CR8).
void AddFog(const CorruptionInput& input, Plane* plane) {
  const double alpha = Choose(input.severity, 0.1, 0.5);
  for (float& value : plane->values)
    value = static_cast<float>((1.0 - alpha) * static_cast<double>(value) + alpha);
}

}  // namespace

extern constinit const CorruptionInfo kFog{.name = "fog",
                                           .summary = "An even haze: a mixture with white.",
                                           .mild = "alpha 0.1",
                                           .strong = "alpha 0.5",
                                           .apply = &AddFog};

}  // namespace segcal
