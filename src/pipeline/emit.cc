// SPDX-License-Identifier: Apache-2.0
#include "pipeline/emit.h"

#include "kernels/emit.h"
#include "kernels/scores.h"
#include "kernels/softmax.h"

namespace segcal {

void EmitTile(const BoundCalibrator& bound,
              const Properties& properties,
              const Tile& tile,
              const TileProbs& out) {
  bound.Apply(tile, out);
  if (properties.preserves != Preserves::kNone)
    KeepWinner(tile.decision, tile.num_classes, out.probs);
}

TopLabel EmitTopLabel(const BoundCalibrator& bound,
                      const Properties& properties,
                      const Tile& tile,
                      const TileProbs& out,
                      TopLabelBuffer* buffer) {
  bound.Apply(tile, out);
  if (properties.preserves != Preserves::kNone) {
    KeepWinner(tile.decision, tile.num_classes, out.probs, buffer->confidence);
    return {.confidence = buffer->confidence, .predicted = tile.decision};
  }
  TopLabelTile(out.probs, tile.num_classes, buffer->confidence, buffer->predicted);
  return {.confidence = buffer->confidence, .predicted = buffer->predicted};
}

TileProbs EmitForUse(const BoundCalibrator& bound,
                     const Properties& properties,
                     const Tile& tile,
                     EmitWorkspace* work) {
  const TileProbs probs = work->calibrated.Reserve(tile.num_classes);
  EmitTile(bound, properties, tile, probs);
  if (tile.masked == nullptr) return probs;
  const TileProbs plain = work->plain.Reserve(tile.num_classes);
  SoftmaxTile(tile, 1.0, plain);
  if (properties.preserves != Preserves::kNone)
    KeepWinner(tile.decision, tile.num_classes, plain.probs);
  for (int64_t v = 0; v < tile.count; ++v) {
    if (!tile.Masked(v)) continue;
    for (int64_t c = 0; c < tile.num_classes; ++c)
      probs.probs[c * kTileVoxels + v] = plain.probs[c * kTileVoxels + v];
  }
  return probs;
}

}  // namespace segcal
