// SPDX-License-Identifier: Apache-2.0
#include "data/repeats.h"

namespace segcal {
namespace {

// The offset first: it differs almost always, so the classes are rarely looked at.
bool SameAsPrevious(const Tile& tile, int64_t v) noexcept {
  if (tile.Masked(v)) return false;
  if (tile.offset[v] != tile.offset[v - 1]) return false;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    const float* row = tile.logits + c * kTileVoxels;
    if (row[v] != row[v - 1]) return false;
  }
  return true;
}

}  // namespace

Repeats FindRepeats(const Tile& tile) noexcept {
  Repeats repeats;
  int64_t begin = 0;
  for (int64_t v = 1; v <= tile.count; ++v) {
    if (v < tile.count && SameAsPrevious(tile, v)) continue;
    if (v - begin >= kRepeatRun) {
      if (repeats.example < 0) repeats.example = begin;
      repeats.voxels += v - begin;
    }
    begin = v;
  }
  return repeats;
}

}  // namespace segcal
