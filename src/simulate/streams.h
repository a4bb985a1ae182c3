// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/rng.h"

namespace segcal {

// What a random stream is for. The numbers are part of what a seed means: append, never reorder.
enum class StreamUse : uint64_t {
  kLayout = 1,
  kScore = 2,
  kOffset = 3,
  kMember = 4,
  kLabel = 5,
  kVoid = 6,
  kTexture = 7,
  kTrueMap = 8,
  kShape = 9,
  kReliability = 10,
  kMistake = 11,
  kLuck = 12,
  kSkill = 13,
  kScanner = 14,
  kGrain = 15,
};

// The random streams of one case: one per use and index, all independent.
struct CaseStreams {
  uint64_t seed = 0;
  int64_t case_index = 0;

  Rng Of(StreamUse use, int64_t index = 0) const noexcept {
    const uint64_t stream = (static_cast<uint64_t>(use) << 56) ^
                            (static_cast<uint64_t>(index) << 32) ^
                            static_cast<uint64_t>(case_index);
    return Rng(seed, stream);
  }
};

}  // namespace segcal
