// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "simulate/fields.h"
#include "simulate/scenes.h"

namespace segcal {
namespace {

enum BrainRegion : uint8_t { kNoLesion, kEdema, kEnhancing, kNecrosis, kCavity };

// Nested shells around a core, from outside in, by distance from the centre in radii.
uint8_t ShellAt(double distance) noexcept {
  if (distance < 0.45) return kNecrosis;
  return distance < 0.65 ? kEnhancing : kEdema;
}

// Two or three lesions of uneven outline; each may carry the cavity of an earlier operation.
void PaintBrain(const CaseStreams& streams, Scene* scene) {
  Rng rng = streams.Of(StreamUse::kLayout);
  const std::vector<float> bumps =
      GaussianField(scene->shape, InVoxels(0.04, scene->shape), streams.Of(StreamUse::kShape));
  for (int64_t lesion = 2 + rng.Below(2); lesion > 0; --lesion) {
    const Ellipsoid body = RandomEllipsoid(scene->shape.size(), 0.13, 0.24, &rng);
    Ellipsoid cavity = body;
    for (double& x : cavity.centre) x += 0.12 * (rng.Uniform() - 0.5);
    for (double& r : cavity.radius) r *= 0.35 + 0.2 * rng.Uniform();
    const bool has_cavity = rng.Uniform() < 0.6;
    for (int64_t v = 0; v < scene->NumVoxels(); ++v) {
      const double bump = 0.15 * static_cast<double>(bumps[static_cast<size_t>(v)]);
      const double distance = body.Distance(scene->shape, v) + bump;
      uint8_t& region = scene->regions[static_cast<size_t>(v)];
      if (distance < 1.0) region = std::max(region, ShellAt(distance));
      if (has_cavity && cavity.Distance(scene->shape, v) + bump < 1.0) region = kCavity;
    }
  }
}

}  // namespace

const ScenePreset& BrainPreset() {
  static const ScenePreset preset{
      .name = "brain",
      .summary = "lesions in a brain scan: 3-D, 5 classes, nearly all background",
      .regions = {{"background", kNoLesion, {0.0, 0.0, 0.0}},
                  {"edema", kNoLesion, {0.4, 0.4, 0.4}},
                  {"enhancing", kEdema, {0.9, 0.9, 0.9}},
                  {"necrosis", kEnhancing, {0.2, 0.2, 0.2}},
                  {"cavity", kEdema, {0.1, 0.1, 0.1}}},
      .size = {48, 96, 96},
      .spacing = {3.0, 2.0, 2.0},
      .background = kNoLesion,
      .ignore_fraction = 0.0,
      .model = {.inside = 2.8,
                .context = 0.8,
                .noise = 0.9,
                .edge_length = 0.012,
                .context_length = 0.04,
                .noise_length = 0.03},
      .paint = &PaintBrain};
  return preset;
}

}  // namespace segcal
