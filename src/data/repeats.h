// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// Voxels of a tile in runs of at least kRepeatRun consecutive voxels with exactly the same
// prediction. Networks do not produce these; fills outside a crop do (nnU-Net writes (1, 0, ...,
// 0)), and on logits such a fill ruins a fit. Masked voxels do not count.
inline constexpr int64_t kRepeatRun = 32;
struct Repeats {
  int64_t voxels = 0;
  int64_t example = -1;  // lane of the start of the first run, or -1
};
Repeats FindRepeats(const Tile& tile) noexcept;

}  // namespace segcal
