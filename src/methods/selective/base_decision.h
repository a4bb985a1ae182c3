// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "methods/shared/calibrator.h"
#include "methods/shared/emit_buffer.h"

namespace segcal {

// The decision of the voxels of a tile after a calibrator: the tile's own where it preserves that,
// else the largest of what it emits, ties to the lowest class.
class BaseDecisions {
 public:
  const uint16_t* Of(const Tile& tile, const Calibrator& base, const BoundCalibrator& bound) {
    if (base.properties().preserves != Preserves::kNone) return tile.decision;
    const TileProbs out = buffer_.Reserve(tile.num_classes);
    bound.Apply(tile, out);
    return Of(tile, base, out.probs);
  }
  // From what it has emitted already.
  const uint16_t* Of(const Tile& tile, const Calibrator& base, const float* probs) {
    if (base.properties().preserves != Preserves::kNone) return tile.decision;
    for (int64_t v = 0; v < tile.count; ++v) {
      int64_t best = 0;
      for (int64_t c = 1; c < tile.num_classes; ++c) {
        if (probs[c * kTileVoxels + v] > probs[best * kTileVoxels + v]) best = c;
      }
      decision_[v] = static_cast<uint16_t>(best);
    }
    return decision_;
  }

 private:
  EmitBuffer buffer_;
  uint16_t decision_[kTileVoxels];
};

}  // namespace segcal
