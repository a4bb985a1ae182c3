// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "core/sum_bytes.h"
#include "data/stream.h"

namespace segcal {

// Pooled tiles of a data set kept in memory, for the cheap first iterations of a fit.
class TileSample {
 public:
  int64_t num_tiles() const noexcept { return static_cast<int64_t>(tiles_.size()); }
  const Tile& tile(int64_t index) const noexcept { return tiles_[static_cast<size_t>(index)]; }

  // Keeps a copy.
  void Add(const Tile& tile);
  void Append(TileSample&& other);

  void Pack(SumWriter* out) const;
  void Unpack(SumReader* in);

 private:
  std::vector<AlignedBuffer> memory_;
  std::vector<Tile> tiles_;
};

// At most max_voxels voxels, and at most an eighth of the stream's memory: the same number of tiles
// from every case, each drawn at random from its stretch of the case; with more cases than tiles,
// one tile of as many cases. Deterministic by seed for any thread count. Each rank (core/ranks.h)
// reads its own cases, and all have the whole sample.
TileSample SampleTiles(const CaseStream& stream,
                       const Pooling& pooling,
                       int64_t max_voxels,
                       uint64_t seed);
// The same of the one case of a stream, for the rank that asks alone.
TileSample SampleTilesOfCase(const CaseStream& stream,
                             const Pooling& pooling,
                             int64_t max_voxels,
                             uint64_t seed);

}  // namespace segcal
