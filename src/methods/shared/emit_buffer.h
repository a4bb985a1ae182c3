// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/aligned.h"
#include "kernels/tile.h"

namespace segcal {

// Memory for what one tile emits.
class EmitBuffer {
 public:
  TileProbs Reserve(int64_t num_classes) {
    auto* floats = reinterpret_cast<float*>(
        memory_.Reserve((num_classes + 1) * kTileVoxels * int64_t{sizeof(float)}));
    return {.probs = floats, .log_label = floats + num_classes * kTileVoxels};
  }

 private:
  AlignedBuffer memory_;
};

}  // namespace segcal
