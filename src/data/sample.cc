// SPDX-License-Identifier: Apache-2.0
#include "data/sample.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/ranks.h"
#include "core/rng.h"

namespace segcal {
namespace {

// Random streams of the cases drawn and of the tiles of case `index`, apart from other uses of the
// seed.
constexpr uint64_t kCaseStream = 0x43415345;
constexpr uint64_t kTileStream = 0x53414D504C450000;

// One index at random from each of `wanted` equal stretches of [0, total).
std::vector<int64_t> DrawStratified(int64_t total, int64_t wanted, Rng rng) {
  wanted = std::clamp<int64_t>(wanted, 1, total);
  std::vector<int64_t> drawn;
  for (int64_t k = 0; k < wanted; ++k) {
    const int64_t begin = total * k / wanted;
    const int64_t end = total * (k + 1) / wanted;
    drawn.push_back(begin + rng.Below(end - begin));
  }
  return drawn;
}

int64_t BytesPerTile(int64_t num_classes) {
  return kTileVoxels * (num_classes * int64_t{sizeof(float)} +
                        int64_t{sizeof(double) + sizeof(uint16_t) + sizeof(int32_t)});
}

int64_t MaxTiles(const CaseStream& stream, int64_t max_voxels) {
  const int64_t affordable =
      stream.options().memory / 8 / BytesPerTile(stream.dataset().num_classes());
  return std::max<int64_t>(1, std::min(max_voxels / kTileVoxels, affordable));
}

TileSample SampleCase(
    const CaseStream& stream, const Pooling& pooling, int64_t c, int64_t num_tiles, uint64_t seed) {
  const auto reader = stream.Open(c);
  const int64_t all_tiles = (reader->num_voxels() + kTileVoxels - 1) / kTileVoxels;
  TileSample sample;
  VoxelBlock block;
  TileBuffer buffer;
  for (const int64_t t :
       DrawStratified(all_tiles, num_tiles, Rng(seed, kTileStream + static_cast<uint64_t>(c)))) {
    const int64_t first = t * kTileVoxels;
    block.Read(*reader, first, std::min(kTileVoxels, reader->num_voxels() - first));
    sample.Add(block.PoolTileInto(0, pooling, &buffer));
  }
  return sample;
}

}  // namespace

void TileSample::Add(const Tile& tile) {
  AlignedBuffer& memory = memory_.emplace_back();
  std::byte* p = memory.Reserve(BytesPerTile(tile.num_classes));
  const auto keep = [&p](const auto* from, int64_t count) {
    const int64_t bytes = count * int64_t{sizeof(*from)};
    std::memcpy(p, from, static_cast<size_t>(bytes));
    const auto* kept = reinterpret_cast<decltype(from)>(p);
    p += bytes;
    return kept;
  };
  Tile copy = tile;
  copy.logits = keep(tile.logits, tile.num_classes * kTileVoxels);
  copy.offset = keep(tile.offset, kTileVoxels);
  copy.decision = keep(tile.decision, kTileVoxels);
  copy.labels = keep(tile.labels, kTileVoxels);
  copy.masked = nullptr;  // masked voxels have no label, which is all a fit looks at
  copy.ahead = {};        // of the block, not of the sample
  tiles_.push_back(copy);
}

void TileSample::Append(TileSample&& other) {
  std::move(other.memory_.begin(), other.memory_.end(), std::back_inserter(memory_));
  tiles_.insert(tiles_.end(), other.tiles_.begin(), other.tiles_.end());
}

void TileSample::Pack(SumWriter* out) const {
  out->Put(num_tiles());
  for (const Tile& tile : tiles_) {
    for (const int64_t number : {tile.num_classes, tile.count, tile.first_voxel}) out->Put(number);
    out->PutRow(tile.logits, tile.num_classes * kTileVoxels);
    out->PutRow(tile.offset, kTileVoxels);
    out->PutRow(tile.decision, kTileVoxels);
    out->PutRow(tile.labels, kTileVoxels);
  }
}

void TileSample::Unpack(SumReader* in) {
  std::vector<float> logits;
  std::vector<double> offset(kTileVoxels);
  std::vector<uint16_t> decision(kTileVoxels);
  std::vector<int32_t> labels(kTileVoxels);
  for (int64_t left = in->TakeCount(); left > 0; --left) {
    Tile tile;
    for (int64_t* number : {&tile.num_classes, &tile.count, &tile.first_voxel})
      *number = in->Take<int64_t>();
    logits.resize(static_cast<size_t>(tile.num_classes * kTileVoxels));
    in->TakeRow(logits.data(), std::ssize(logits));
    in->TakeRow(offset.data(), kTileVoxels);
    in->TakeRow(decision.data(), kTileVoxels);
    in->TakeRow(labels.data(), kTileVoxels);
    tile.logits = logits.data();
    tile.offset = offset.data();
    tile.decision = decision.data();
    tile.labels = labels.data();
    Add(tile);
  }
}

TileSample SampleTiles(const CaseStream& stream,
                       const Pooling& pooling,
                       int64_t max_voxels,
                       uint64_t seed) {
  const int64_t max_tiles = MaxTiles(stream, max_voxels);
  const int64_t num_cases = stream.num_cases();
  const std::vector<int64_t> cases = DrawStratified(num_cases, max_tiles, Rng(seed, kCaseStream));
  const int64_t per_case = max_tiles / static_cast<int64_t>(cases.size());
  auto parts = MakeAndShare<TileSample>(
      "sample tiles",
      std::ssize(cases),
      stream.num_workers(),
      [&](int64_t i) { return stream.IsOwn(cases[static_cast<size_t>(i)]); },
      [&](int64_t i) {
        return SampleCase(stream, pooling, cases[static_cast<size_t>(i)], per_case, seed);
      });
  TileSample sample;
  for (TileSample& part : parts) sample.Append(std::move(part));
  return sample;
}

TileSample SampleTilesOfCase(const CaseStream& stream,
                             const Pooling& pooling,
                             int64_t max_voxels,
                             uint64_t seed) {
  return SampleCase(stream, pooling, 0, MaxTiles(stream, max_voxels), seed);
}

}  // namespace segcal
