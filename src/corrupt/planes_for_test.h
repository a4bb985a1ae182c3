// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/rng.h"
#include "corrupt/corruption.h"

namespace segcal::testing {

// Intensities at random.
inline Plane RandomPlane(int64_t height, int64_t width, int64_t channels, uint64_t seed = 1) {
  Plane plane{.height = height, .width = width, .channels = channels, .values = {}};
  Rng rng(seed, 0);
  for (int64_t i = 0; i < plane.size(); ++i)
    plane.values.push_back(static_cast<float>(rng.Uniform()));
  return plane;
}

// The same intensity everywhere.
inline Plane EvenPlane(int64_t height, int64_t width, int64_t channels, float value) {
  Plane plane{.height = height, .width = width, .channels = channels, .values = {}};
  plane.values.assign(static_cast<size_t>(plane.size()), value);
  return plane;
}

// A corruption by its name, as the image "x" gets it.
inline Plane Corrupted(const char* name, Severity severity, Plane plane, uint64_t seed = 0) {
  CorruptOptions options;
  options.only = name;
  options.severity = severity;
  options.seed = seed;
  ApplyCorruption(DrawCorruption("x", options), 0, "x", &plane);
  return plane;
}

}  // namespace segcal::testing
