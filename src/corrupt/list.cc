// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/text_hash.h"
#include "core/throw.h"
#include "corrupt/corruption.h"

namespace segcal {

extern const CorruptionInfo kBlur, kBrightness, kFog, kJpegCompression, kNoise;

// The order of the main paper's table. Which type an image draws depends on it: append, never
// reorder.
const std::vector<const CorruptionInfo*>& Corruptions() {
  static const std::vector<const CorruptionInfo*> corruptions = {
      &kNoise, &kBlur, &kBrightness, &kJpegCompression, &kFog};
  return corruptions;
}

namespace {

// What a random stream of an image is for.
constexpr uint64_t kTypeStream = 0;
constexpr uint64_t kNoiseStream = 1;

}  // namespace

const CorruptionInfo& FindCorruption(const std::string& name) {
  std::vector<std::string> names;
  for (const CorruptionInfo* info : Corruptions()) {
    if (name == info->name) return *info;
    names.emplace_back(info->name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown corruption \"{}\"; there are {}",
        name,
        fmt::join(names, ", "));
}

ImageCorruption DrawCorruption(const std::string& id, const CorruptOptions& options) {
  const uint64_t key = Rng(options.seed, HashText(id)).At(0);
  Rng type(key, kTypeStream);
  const auto& all = Corruptions();
  const CorruptionInfo* drawn = all[static_cast<size_t>(type.Below(std::ssize(all)))];
  return {.info = options.only.empty() ? drawn : &FindCorruption(options.only),
          .severity = options.severity,
          .noise = Rng(key, kNoiseStream)};
}

void ApplyCorruption(const ImageCorruption& corruption,
                     int64_t first,
                     const std::string& name,
                     Plane* plane) {
  corruption.info->apply(
      {.severity = corruption.severity, .noise = corruption.noise, .first = first, .name = name},
      plane);
  for (float& value : plane->values) value = std::clamp(value, 0.0f, 1.0f);
}

std::vector<CorruptionDescription> ListCorruptions() {
  std::vector<CorruptionDescription> list;
  for (const CorruptionInfo* info : Corruptions()) {
    list.push_back(
        {.name = info->name, .summary = info->summary, .mild = info->mild, .strong = info->strong});
  }
  return list;
}

}  // namespace segcal
