// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/parallel.h"

// What the memory of the machine can do: the limit everything else is compared with.
namespace segcal {

// What one thread reads or copies at a time.
inline constexpr int64_t kChunkBytes = int64_t{1} << 20;

// Calls use(offset, bytes) for every chunk, on all threads.
template <class Use>
void ForEachChunk(int64_t bytes, Use use) {
  ParallelFor((bytes + kChunkBytes - 1) / kChunkBytes, 0, [&](int64_t chunk, int) {
    const int64_t offset = chunk * kChunkBytes;
    use(offset, std::min(kChunkBytes, bytes - offset));
  });
}

// The exclusive or of all 64-bit words, so that every byte is needed; the rest of a vector is left.
inline uint64_t FoldBytes(const std::byte* data, int64_t bytes) {
  constexpr int64_t kVectors = 8;
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint64_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* words = reinterpret_cast<const uint64_t*>(data);
  hn::Vec<decltype(d)> fold[kVectors];
  for (auto& f : fold) f = hn::Zero(d);
  for (int64_t i = 0; (i + kVectors * lanes) * 8 <= bytes; i += kVectors * lanes) {
    for (int64_t k = 0; k < kVectors; ++k)
      fold[k] = hn::Xor(fold[k], hn::Load(d, words + i + k * lanes));
  }
  for (int64_t k = 1; k < kVectors; ++k) fold[0] = hn::Xor(fold[0], fold[k]);
  uint64_t sums[hn::MaxLanes(d)];
  hn::StoreU(fold[0], d, sums);
  for (int64_t k = 1; k < lanes; ++k) sums[0] ^= sums[k];
  return sums[0];
}

// Past the caches: nothing is read that will be overwritten.
inline void CopyStreaming(const std::byte* from, int64_t bytes, std::byte* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint8_t> d;
  const auto* source = reinterpret_cast<const uint8_t*>(from);
  auto* target = reinterpret_cast<uint8_t*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < bytes; i += lanes) hn::Stream(hn::Load(d, source + i), d, target + i);
  hwy::FlushStream();
}

}  // namespace segcal
