// SPDX-License-Identifier: Apache-2.0
#include "simulate/scanner.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "simulate/fields.h"

namespace segcal {
namespace {

// Colours are drawn together to this share of their distance from middle gray.
constexpr double kContrast = 0.5;
// Textures differ in their grain: one of these lengths in voxels for a region, by its number.
constexpr double kGrains[] = {0.8, 2.0, 5.0};
constexpr double kTexture = 0.05;
constexpr double kBiasLength = 0.25;  // in parts of the shorter side

using Field = std::vector<float>;

// The scene without noise and blur, one channel.
Field Render(const ScenePreset& preset,
             const Scene& scene,
             size_t channel,
             const std::vector<Field>& textures) {
  Field values(scene.regions.size());
  for (size_t v = 0; v < values.size(); ++v) {
    const uint8_t region = scene.regions[v];
    const double colour = 0.5 + kContrast * (RegionColour(preset, region)[channel] - 0.5);
    const double texture = static_cast<double>(textures[region % textures.size()][v]);
    values[v] = static_cast<float>(colour * (1.0 + static_cast<double>(scene.tint[v])) +
                                   kTexture * texture);
  }
  return values;
}

uint8_t ToByte(double intensity) {
  return static_cast<uint8_t>(std::lround(255.0 * std::clamp(intensity, 0.0, 1.0)));
}

}  // namespace

Scanner MakeScanner(uint64_t seed, int64_t index) {
  if (index == 0) return {};
  Rng rng = CaseStreams{seed, 0}.Of(StreamUse::kScanner, index);
  // Away from 1 by about the same factor, up or down.
  const auto factor = [&](double spread) {
    const double size = std::exp(spread * (0.5 + rng.Uniform()));
    return rng.Uniform() < 0.5 ? size : 1.0 / size;
  };
  Scanner scanner;
  const double gain = factor(0.12);
  for (double& channel : scanner.gain) channel = gain * factor(0.06);
  scanner.gamma = factor(0.25);
  scanner.noise *= 1.2 + 0.8 * rng.Uniform();
  scanner.blur *= 1.2 + 0.8 * rng.Uniform();
  scanner.bias *= 1.2 + 0.8 * rng.Uniform();
  return scanner;
}

std::vector<uint8_t> TakeImage(const ScenePreset& preset,
                               const Scene& scene,
                               const Scanner& scanner,
                               const CaseStreams& streams) {
  std::vector<Field> textures;
  for (const double grain : kGrains)
    textures.push_back(
        GaussianField(scene.shape, grain, streams.Of(StreamUse::kGrain, std::ssize(textures))));
  const Field bias = GaussianField(
      scene.shape, InVoxels(kBiasLength, scene.shape), streams.Of(StreamUse::kGrain, 10));
  const size_t channels = scene.shape.size() == 2 ? 3 : 1;
  std::vector<uint8_t> image(channels * scene.regions.size());
  for (size_t k = 0; k < channels; ++k) {
    const Field clean =
        SmoothClamped(scene.shape, Render(preset, scene, k, textures), scanner.blur);
    const Field noise = GaussianField(
        scene.shape, 0.0, streams.Of(StreamUse::kGrain, 20 + static_cast<int64_t>(k)));
    for (size_t v = 0; v < clean.size(); ++v) {
      const double lit = std::max(0.0, static_cast<double>(clean[v])) *
                         std::exp(scanner.bias * static_cast<double>(bias[v]));
      image[channels * v + k] = ToByte(scanner.gain[k] * std::pow(lit, scanner.gamma) +
                                       scanner.noise * static_cast<double>(noise[v]));
    }
  }
  return image;
}

}  // namespace segcal
