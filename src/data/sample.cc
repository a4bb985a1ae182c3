// SPDX-License-Identifier: Apache-2.0
#include "data/sample.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/rng.h"

namespace segcal {
namespace {

// The random stream of case `index`, apart from other uses of the seed.
constexpr uint64_t kSampleStream = 0x53414D504C450000;

std::vector<int64_t> DrawTiles(int64_t num_tiles, int64_t wanted, uint64_t seed, int64_t case_index) {
  wanted = std::clamp<int64_t>(wanted, 1, num_tiles);
  Rng rng(seed, kSampleStream + static_cast<uint64_t>(case_index));
  std::vector<int64_t> tiles;
  for (int64_t k = 0; k < wanted; ++k) {
    const int64_t begin = num_tiles * k / wanted;
    const int64_t end = num_tiles * (k + 1) / wanted;
    tiles.push_back(begin + rng.Below(end - begin));
  }
  return tiles;
}

}  // namespace

TileSample SampleTiles(const CaseStream& stream, const Pooling& pooling, int64_t max_voxels, uint64_t seed) {
  const int64_t per_case = max_voxels / kTileVoxels / std::max<int64_t>(1, stream.num_cases());
  std::vector<std::vector<TileBuffer>> buffers(static_cast<size_t>(stream.num_cases()));
  std::vector<std::vector<Tile>> tiles(buffers.size());
  ParallelFor(stream.num_cases(), stream.num_workers(), [&](int64_t c, int) {
    const auto reader = stream.Open(c);
    const int64_t num_tiles = (reader->num_voxels() + kTileVoxels - 1) / kTileVoxels;
    VoxelBlock block;
    for (const int64_t t : DrawTiles(num_tiles, per_case, seed, c)) {
      const int64_t first = t * kTileVoxels;
      block.Read(*reader, first, std::min(kTileVoxels, reader->num_voxels() - first));
      TileBuffer& buffer = buffers[static_cast<size_t>(c)].emplace_back();
      tiles[static_cast<size_t>(c)].push_back(block.PoolTileInto(0, pooling, &buffer));
    }
  });
  TileSample sample;
  for (size_t c = 0; c < tiles.size(); ++c) {
    std::move(buffers[c].begin(), buffers[c].end(), std::back_inserter(sample.buffers_));
    sample.tiles_.insert(sample.tiles_.end(), tiles[c].begin(), tiles[c].end());
  }
  return sample;
}

}  // namespace segcal
