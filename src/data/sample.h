// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "data/stream.h"

namespace segcal {

// Pooled tiles of a data set kept in memory, for the cheap first iterations of a fit.
class TileSample {
 public:
  int64_t num_tiles() const noexcept { return static_cast<int64_t>(tiles_.size()); }
  const Tile& tile(int64_t index) const noexcept { return tiles_[static_cast<size_t>(index)]; }

 private:
  friend TileSample SampleTiles(const CaseStream& stream,
                                const Pooling& pooling,
                                int64_t max_voxels,
                                uint64_t seed);
  std::vector<TileBuffer> buffers_;
  std::vector<Tile> tiles_;
};

// About max_voxels voxels, the same share of them from every case: each case is cut into equal
// stretches and one tile is drawn at random in each. Deterministic by seed for any thread count.
TileSample SampleTiles(const CaseStream& stream, const Pooling& pooling, int64_t max_voxels, uint64_t seed);

}  // namespace segcal
