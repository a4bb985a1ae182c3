// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "kernels/dispatch.h"
#include "kernels/emit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tile_hash.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DU = hn::ScalableTag<uint32_t>;
using VU = hn::Vec<DU>;

// Multiply, then fold the high bits down: the multiplication only carries upwards.
template <int kShift>
HWY_INLINE VU Mix(VU state, VU value, uint32_t multiplier) {
  const VU x = hn::Mul(hn::Xor(state, value), hn::Set(DU(), multiplier));
  return hn::Xor(x, hn::ShiftRight<kShift>(x));
}

// Two digests of the logits of each voxel, with odd multipliers of no special meaning.
void HashLogits(const float* logits, int64_t num_classes, uint32_t* low, uint32_t* high) {
  const DU d;
  const hn::ScalableTag<float> df;
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    VU a = hn::Set(d, 0x2545F491u);
    VU b = hn::Set(d, 0x6C078965u);
    for (int64_t c = 0; c < num_classes; ++c) {
      const VU bits = hn::BitCast(d, hn::Load(df, logits + c * kTileVoxels + v));
      a = Mix<15>(a, bits, 0x85EBCA6Bu);
      b = Mix<13>(b, bits, 0xC2B2AE3Du);
    }
    hn::Store(a, d, low + v);
    hn::Store(b, d, high + v);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {
namespace {

HWY_EXPORT(HashLogits);

uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 32)) * 0x9FB21C651E98DF25u;
  x = (x ^ (x >> 29)) * 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

}  // namespace

uint64_t HashTile(const Tile& tile, uint64_t seed) noexcept {
  alignas(64) uint32_t low[kTileVoxels];
  alignas(64) uint32_t high[kTileVoxels];
  SEGCAL_DISPATCH(HashLogits)(tile.logits, tile.num_classes, low, high);
  uint64_t hash = Mix64(seed ^ static_cast<uint64_t>(tile.num_classes));
  for (int64_t v = 0; v < tile.count; ++v) {
    const uint64_t logits = (uint64_t{high[v]} << 32) | low[v];
    const uint32_t offset = std::bit_cast<uint32_t>(static_cast<float>(tile.offset[v]));
    const uint32_t label = static_cast<uint32_t>(tile.labels[v]);
    const uint64_t rest = (uint64_t{offset} << 32) ^ (uint64_t{tile.decision[v]} << 16) ^ label;
    hash = Mix64(hash ^ logits) + rest;
  }
  return Mix64(hash ^ static_cast<uint64_t>(tile.count));
}

}  // namespace segcal
#endif
