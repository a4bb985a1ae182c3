// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kernels/pool.h"

namespace segcal {

// How the members of a case become one prediction: `z` mean logits, `p` mean probabilities, `z0`,
// `z1`, ... one member.
struct Pooling {
  PoolRule rule = PoolRule::kMeanLogits;
  int64_t member = -1;   // -1: all
  int64_t leading = -1;  // of all members only so many from the front, to compare sizes; -1: all

  bool operator==(const Pooling&) const = default;
};

// Whether `text` has the form of a pooling.
bool LooksLikePooling(const std::string& text);
Pooling ParsePooling(const std::string& text);
std::string FormatPooling(const Pooling& pooling);

// The floor that belongs to a kind of input: the lowest log p for probabilities, the lowest
// z - max z for logits.
double InputFloor(InputKind input);

}  // namespace segcal
