// SPDX-License-Identifier: Apache-2.0
#include "corrupt/corruption.h"

namespace segcal {
namespace {

// Multiplies every intensity (CR6); what becomes brighter than white is white.
void Brighten(const CorruptionInput& input, Plane* plane) {
  const double factor = Choose(input.severity, 1.2, 1.8);
  for (float& value : plane->values)
    value = static_cast<float>(factor * static_cast<double>(value));
}

}  // namespace

extern constinit const CorruptionInfo kBrightness{.name = "brightness",
                                                  .summary = "All intensities times a factor.",
                                                  .mild = "factor 1.2",
                                                  .strong = "factor 1.8",
                                                  .apply = &Brighten};

}  // namespace segcal
