// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/canvas.h"
#include "simulate/streams.h"

namespace segcal {

using Colour = std::array<double, 3>;  // red, green, blue in [0, 1]

struct RegionInfo {
  const char* name;
  int parent;  // a lower index: the region it becomes when there are fewer classes
  Colour colour;
};

// How regions become class scores, in units of the true logits. Lengths are parts of
// the shorter side of the picture plane.
struct ScoreModel {
  double inside;          // advantage of a region's class inside it
  double context;         // weight of the log share of the class in the surroundings
  double noise;           // standard deviation of each class's own smooth disturbance
  double edge_length;     // blur of region borders
  double context_length;  // reach of the surroundings
  double noise_length;    // size of the disturbances

  // Advantage far from any other region.
  double ClearGap() const noexcept;
};

struct ScenePreset {
  const char* name;
  const char* summary;
  std::vector<RegionInfo> regions;  // the classes, in order
  std::vector<int64_t> size;
  std::vector<double> spacing;
  std::optional<int64_t> background;
  double ignore_fraction;
  ScoreModel model;
  void (*paint)(const CaseStreams& streams, Scene* scene);
};

const ScenePreset& StreetPreset();
const ScenePreset& BrainPreset();
const ScenePreset& RoadsPreset();

const std::vector<const ScenePreset*>& ScenePresets();

// Error with the known names if `name` is none of them.
const ScenePreset& FindPreset(const std::string& name);

// Names of the first num_classes classes; beyond the preset's own they are object_<index>.
std::vector<std::string> ClassNames(const ScenePreset& preset, int64_t num_classes);

// Paints the scene of a case with exactly the classes [0, num_classes): regions beyond become their
// parents, classes beyond the preset's are scattered objects.
Scene MakeScene(const ScenePreset& preset,
                const std::vector<int64_t>& shape,
                int64_t num_classes,
                const CaseStreams& streams);

// The score field of class c,
//
//   u_c = inside sharp_c + context log(1/1000 + wide_c) + noise field_c,
//
// sharp_c and wide_c the indicator of the class blurred over the edge and the context length,
// field_c a Gaussian field of the noise length.
std::vector<float> ClassScores(const ScenePreset& preset,
                               const Scene& scene,
                               int64_t c,
                               const CaseStreams& streams);

// A length of the preset in voxels.
double InVoxels(double length, const std::vector<int64_t>& shape) noexcept;

// A colour picture of a 2-D scene, (height, width, 3) bytes.
std::vector<uint8_t> MakePicture(const ScenePreset& preset,
                                 const Scene& scene,
                                 const CaseStreams& streams);

}  // namespace segcal
