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

}  // namespace segcal
