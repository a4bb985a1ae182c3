// SPDX-License-Identifier: Apache-2.0
#include "pipeline/emit.h"

#include "kernels/emit.h"

namespace segcal {

TileProbs EmitBuffer::Reserve(int64_t num_classes) {
  auto* floats = reinterpret_cast<float*>(
      memory_.Reserve((num_classes + 1) * kTileVoxels * int64_t{sizeof(float)}));
  return {.probs = floats, .log_label = floats + num_classes * kTileVoxels};
}

void EmitTile(const BoundCalibrator& bound,
              const Properties& properties,
              const Tile& tile,
              const TileProbs& out) {
  bound.Apply(tile, out);
  if (properties.preserves != Preserves::kNone)
    KeepWinner(tile.decision, tile.num_classes, out.probs);
}

}  // namespace segcal
