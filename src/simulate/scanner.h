// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/scenes.h"

namespace segcal {

// How a scene becomes an image; intensities are in [0, 1], lengths in voxels.
struct Scanner {
  std::array<double, 3> gain = {1.0, 1.0, 1.0};  // per colour; gray images have the first
  double gamma = 1.0;                            // of the intensity curve
  double noise = 0.05;                           // standard deviation, per voxel and channel
  double blur = 0.7;                             // standard deviation of the partial volume
  double bias = 0.08;  // spread of the log of the smooth brightening over the image
};

// Scanner 0 is the one above. The others differ in everything: what a network has not seen.
Scanner MakeScanner(uint64_t seed, int64_t index);

// The image of a scene as bytes: (height, width, 3), or gray (depth, height, width).
//
//   x = blur(c_r (1 + tint) + t f_r),  image = gain (x e^{bias b})^gamma + noise n
//
// with c_r the colour of the region, drawn together so that colour alone does not tell, f_r its
// texture, b a smooth field and n white noise.
std::vector<uint8_t> TakeImage(const ScenePreset& preset,
                               const Scene& scene,
                               const Scanner& scanner,
                               const CaseStreams& streams);

// The colour of a region in pictures; those beyond the preset's own get one from their number.
Colour RegionColour(const ScenePreset& preset, uint8_t region);

}  // namespace segcal
