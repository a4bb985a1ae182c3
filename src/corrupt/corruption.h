// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "segcal/corrupt.h"

namespace segcal {

// One plane of an image: intensities in [0, 1], channels last.
struct Plane {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  std::vector<float> values;  // [height][width][channels]

  int64_t size() const noexcept { return height * width * channels; }
};

// What a corruption may depend on beside the plane.
struct CorruptionInput {
  Severity severity = Severity::kMild;
  Rng noise{0, 0};    // the stream of the image
  int64_t first = 0;  // position of the plane's first value in the image
  std::string name;   // of the image, for messages
};

// One corruption: a name in list.cc, and a file whose last lines are its descriptor.
struct CorruptionInfo {
  const char* name;
  const char* summary;
  const char* mild;  // the setting of each severity, as people read it
  const char* strong;
  // Changes the plane; what leaves [0, 1] is cut off by the caller.
  void (*apply)(const CorruptionInput& input, Plane* plane);
};

// The setting of a severity, of the two of a corruption.
template <class T>
constexpr T Choose(Severity severity, T mild, T strong) noexcept {
  return severity == Severity::kMild ? mild : strong;
}

const std::vector<const CorruptionInfo*>& Corruptions();

// An Error that lists the names if there is none of that name.
const CorruptionInfo& FindCorruption(const std::string& name);

// How one image is corrupted: by type, and with the image's own random numbers.
struct ImageCorruption {
  const CorruptionInfo* info = nullptr;
  Severity severity = Severity::kMild;
  Rng noise{0, 0};
};

// What the image `id` gets: the type `options.only`, else one drawn from all with equal chances by
// a hash of id and seed (CR1). Both severities draw the same.
ImageCorruption DrawCorruption(const std::string& id, const CorruptOptions& options);

// Corrupts a plane whose first value is number `first` of its image, and cuts off at 0 and 1.
void ApplyCorruption(const ImageCorruption& corruption,
                     int64_t first,
                     const std::string& name,
                     Plane* plane);

}  // namespace segcal
