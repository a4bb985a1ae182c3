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

// Two digests of the logits of each voxel, with odd multipliers of no special meaning; four vectors
// side by side because each step waits for the one before.
void HashLogits(const float* logits, int64_t num_classes, uint32_t* low, uint32_t* high) {
  constexpr int kGroup = 4;
  const DU d;
  const hn::ScalableTag<float> df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    VU a[kGroup];
    VU b[kGroup];
    for (int k = 0; k < kGroup; ++k) a[k] = hn::Set(d, 0x2545F491u);
    for (int k = 0; k < kGroup; ++k) b[k] = hn::Set(d, 0x6C078965u);
    for (int64_t c = 0; c < num_classes; ++c) {
      const float* row = logits + c * kTileVoxels + v;
      for (int k = 0; k < kGroup; ++k) {
        const VU bits = hn::BitCast(d, hn::Load(df, row + k * lanes));
        a[k] = Mix<15>(a[k], bits, 0x85EBCA6Bu);
        b[k] = Mix<13>(b[k], bits, 0xC2B2AE3Du);
      }
    }
    for (int k = 0; k < kGroup; ++k) hn::Store(a[k], d, low + v + k * lanes);
    for (int k = 0; k < kGroup; ++k) hn::Store(b[k], d, high + v + k * lanes);
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
  uint64_t sum = 0;
  for (int64_t v = 0; v < tile.count; ++v) {
    const uint64_t logits = (uint64_t{high[v]} << 32) | low[v];
    const uint32_t offset = std::bit_cast<uint32_t>(static_cast<float>(tile.offset[v]));
    const uint32_t label = static_cast<uint32_t>(tile.labels[v]);
    const uint64_t rest = (uint64_t{offset} << 32) ^ (uint64_t{tile.decision[v]} << 16) ^ label;
    // The position is part of what is mixed, so the sum knows the order of the voxels.
    sum += Mix64(logits + Mix64(rest + static_cast<uint64_t>(v + 1) * 0x9E3779B97F4A7C15u));
  }
  const auto shape = static_cast<uint64_t>(tile.num_classes * (kTileVoxels + 1) + tile.count);
  return Mix64(sum ^ Mix64(seed + shape));
}

}  // namespace segcal
#endif
