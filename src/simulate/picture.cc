// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "simulate/fields.h"
#include "simulate/scanner.h"
#include "simulate/scenes.h"

namespace segcal {

Colour RegionColour(const ScenePreset& preset, uint8_t region) {
  if (region < preset.regions.size()) return preset.regions[region].colour;
  const Rng rng(region, 0);
  return {rng.UniformAt(0), rng.UniformAt(1), rng.UniformAt(2)};
}

std::vector<uint8_t> MakePicture(const ScenePreset& preset,
                                 const Scene& scene,
                                 const CaseStreams& streams) {
  const std::vector<float> light =
      GaussianField(scene.shape, InVoxels(0.1, scene.shape), streams.Of(StreamUse::kTexture, 0));
  const std::vector<float> grain =
      GaussianField(scene.shape, 0.7, streams.Of(StreamUse::kTexture, 1));
  std::vector<uint8_t> picture(3 * scene.regions.size());
  for (size_t v = 0; v < scene.regions.size(); ++v) {
    const Colour colour = RegionColour(preset, scene.regions[v]);
    const double brightness =
        (1.0 + static_cast<double>(scene.tint[v])) * std::exp(0.06 * static_cast<double>(light[v]));
    for (size_t k = 0; k < 3; ++k) {
      const double value = colour[k] * brightness + 0.025 * static_cast<double>(grain[v]);
      picture[3 * v + k] = static_cast<uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0)));
    }
  }
  return picture;
}

}  // namespace segcal
