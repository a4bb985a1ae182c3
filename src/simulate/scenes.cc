// SPDX-License-Identifier: Apache-2.0
#include "simulate/scenes.h"

#include <algorithm>
#include <cmath>

#include "core/throw.h"
#include "simulate/fields.h"

namespace segcal {
namespace {

// More than this many additional objects would hide the scene.
constexpr int64_t kMaxObjects = 12;
// A class that is nowhere near still has this share: it is unlikely, not impossible.
constexpr double kLeastShare = 1e-3;

void ScatterObjects(int64_t first_class, int64_t end_class, Rng* rng, Scene* scene) {
  const int64_t count = std::min(end_class - first_class, kMaxObjects);
  for (int64_t i = 0; i < count; ++i) {
    const auto region = static_cast<uint8_t>(first_class + rng->Below(end_class - first_class));
    const Ellipsoid body = RandomEllipsoid(scene->shape.size(), 0.02, 0.06, rng);
    for (int64_t v = 0; v < scene->NumVoxels(); ++v) {
      if (body.Distance(scene->shape, v) > 1.0) continue;
      scene->regions[static_cast<size_t>(v)] = region;
      scene->tint[static_cast<size_t>(v)] = 0.0f;
    }
  }
}

uint8_t NearestKept(const ScenePreset& preset, uint8_t region, int64_t num_classes) {
  while (region >= num_classes) region = static_cast<uint8_t>(preset.regions[region].parent);
  return region;
}

}  // namespace

double ScoreModel::ClearGap() const noexcept { return inside - context * std::log(kLeastShare); }

const std::vector<const ScenePreset*>& ScenePresets() {
  static const std::vector<const ScenePreset*> presets = {
      &StreetPreset(), &BrainPreset(), &RoadsPreset()};
  return presets;
}

const ScenePreset& FindPreset(const std::string& name) {
  std::string known;
  for (const ScenePreset* preset : ScenePresets()) {
    if (name == preset->name) return *preset;
    known += (known.empty() ? "" : ", ") + std::string(preset->name);
  }
  Throw(ErrorCode::kInvalidArgument, "preset \"{}\" is unknown; known are {}", name, known);
}

std::vector<std::string> ClassNames(const ScenePreset& preset, int64_t num_classes) {
  std::vector<std::string> names;
  const auto own = static_cast<int64_t>(preset.regions.size());
  for (int64_t c = 0; c < num_classes; ++c) {
    names.push_back(c < own ? preset.regions[static_cast<size_t>(c)].name
                            : fmt::format("object_{}", c));
  }
  return names;
}

Scene MakeScene(const ScenePreset& preset,
                const std::vector<int64_t>& shape,
                int64_t num_classes,
                const CaseStreams& streams) {
  Scene scene(shape);
  preset.paint(streams, &scene);
  const auto own = static_cast<int64_t>(preset.regions.size());
  if (num_classes < own) {
    for (uint8_t& region : scene.regions) region = NearestKept(preset, region, num_classes);
  } else if (num_classes > own) {
    Rng rng = streams.Of(StreamUse::kLayout, 1);
    ScatterObjects(own, num_classes, &rng, &scene);
  }
  return scene;
}

double InVoxels(double length, const std::vector<int64_t>& shape) noexcept {
  return length * static_cast<double>(std::min(shape[shape.size() - 2], shape.back()));
}

std::vector<float> ClassScores(const ScenePreset& preset,
                               const Scene& scene,
                               int64_t c,
                               const CaseStreams& streams) {
  const ScoreModel& model = preset.model;
  std::vector<float> member(scene.regions.size());
  for (size_t v = 0; v < member.size(); ++v) member[v] = scene.regions[v] == c ? 1.0f : 0.0f;
  const std::vector<float> wide =
      SmoothClamped(scene.shape, member, InVoxels(model.context_length, scene.shape));
  const std::vector<float> sharp =
      SmoothClamped(scene.shape, std::move(member), InVoxels(model.edge_length, scene.shape));
  std::vector<float> scores = GaussianField(
      scene.shape, InVoxels(model.noise_length, scene.shape), streams.Of(StreamUse::kScore, c));
  for (size_t v = 0; v < scores.size(); ++v) {
    const double share = std::max(static_cast<double>(wide[v]), 0.0);
    const double score = model.inside * static_cast<double>(sharp[v]) +
                         model.context * std::log(kLeastShare + share) +
                         model.noise * static_cast<double>(scores[v]);
    scores[v] = static_cast<float>(score);
  }
  return scores;
}

}  // namespace segcal
