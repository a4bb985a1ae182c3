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
