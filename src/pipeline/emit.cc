// SPDX-License-Identifier: Apache-2.0
#include "pipeline/emit.h"

#include "kernels/emit.h"

namespace segcal {

void EmitTile(const BoundCalibrator& bound,
              const Properties& properties,
              const Tile& tile,
              const TileProbs& out) {
  bound.Apply(tile, out);
  if (properties.preserves != Preserves::kNone)
    KeepWinner(tile.decision, tile.num_classes, out.probs);
}

}  // namespace segcal
