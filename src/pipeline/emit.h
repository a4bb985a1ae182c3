// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/tile.h"
#include "methods/shared/calibrator.h"
#include "methods/shared/emit_buffer.h"

namespace segcal {

// The one place where probabilities leave a calibrator: applies it and, if it declares to preserve
// the decision, makes the emitted float32 values keep it (the winner rule).
void EmitTile(const BoundCalibrator& bound,
              const Properties& properties,
              const Tile& tile,
              const TileProbs& out);

// The top label of what was emitted: [kTileVoxels], the largest probability and its class, ties to
// the lowest.
struct TopLabel {
  const float* confidence = nullptr;
  const uint16_t* predicted = nullptr;
};

// Memory of one worker for EmitTopLabel.
struct TopLabelBuffer {
  alignas(64) float confidence[kTileVoxels];
  alignas(64) uint16_t predicted[kTileVoxels];
};

// EmitTile and the top label, which a decision that is kept makes known.
TopLabel EmitTopLabel(const BoundCalibrator& bound,
                      const Properties& properties,
                      const Tile& tile,
                      const TileProbs& out,
                      TopLabelBuffer* buffer);

// Memory of one worker for EmitForUse.
struct EmitWorkspace {
  EmitBuffer calibrated;
  EmitBuffer plain;
};

// What users get of a tile: EmitTile, but masked voxels are not calibrated, they keep softmax(z).
TileProbs EmitForUse(const BoundCalibrator& bound,
                     const Properties& properties,
                     const Tile& tile,
                     EmitWorkspace* work);

}  // namespace segcal
