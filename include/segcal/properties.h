// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "segcal/export.h"

namespace segcal {

// What a pipeline guarantees about the order of the classes in its output.
enum class Preserves {
  kNone,
  kArgmax,  // the class with the largest value stays the same
  kOrder,   // and no two of the others change places
};
SEGCAL_EXPORT const char* Name(Preserves preserves) noexcept;  // "none", "argmax", "order"
// An unknown name is an Error that lists the known ones.
SEGCAL_EXPORT Preserves ParsePreserves(const std::string& name);

// What a pipeline declares, and `verify` checks.
struct Properties {
  // An offset added to all logits of a voxel changes nothing.
  bool translation_invariant = false;
  Preserves preserves = Preserves::kNone;
};

// How many numbers a fit sets, and how many of them the probabilities depend on.
struct ParameterCounts {
  int64_t optimised = 0;
  int64_t identifiable = 0;
};

}  // namespace segcal
