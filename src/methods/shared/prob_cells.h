// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sum_bytes.h"

namespace segcal {

// The place of p in [0, 1] among all float32 values, in 31 bits: increasing, and as fine next to 1
// as next to 0, because above one half it counts in 1 - p, which is exact there. Dropping the last
// s bits groups values whose p (or 1 - p) agree to 2^(s - 23) (IR4).
inline uint32_t ProbKey(float p) noexcept {
  constexpr uint32_t kHalf = 0x3F000000;  // the bits of 0.5f
  if (!(p > 0.0f)) return 0;
  if (p <= 0.5f) return std::bit_cast<uint32_t>(p);
  return 2 * kHalf - (p < 1.0f ? std::bit_cast<uint32_t>(1.0f - p) : 0);
}

// How often a group of neighbouring probabilities was predicted, and how often it came true.
struct ProbCell {
  uint32_t key = 0;
  float lower = 0.0f;  // the smallest and the largest member seen
  float upper = 0.0f;
  int64_t count = 0;  // 0: no cell
  int64_t hits = 0;
};

// Counts of (p, came true) pairs in bounded memory. Every float32 value has its own cell until
// there are more than max_cells; then keys lose their last bit until they fit. The final resolution
// is the finest at which all data fit, and counts are exact, so nothing depends on order or
// threads.
class ProbCells {
 public:
  explicit ProbCells(int64_t max_cells);

  void Add(float p, bool hit) {
    Insert({.key = ProbKey(p) >> dropped_bits_,
            .lower = p,
            .upper = p,
            .count = 1,
            .hits = hit ? 1 : 0});
  }
  void Merge(const ProbCells& other);
  void Pack(SumWriter* out) const;
  void Unpack(SumReader* in);

  std::vector<ProbCell> Sorted() const;
  int dropped_bits() const noexcept { return dropped_bits_; }

 private:
  void Insert(const ProbCell& cell);
  void Rehash(size_t slots, int drop);
  void Coarsen();

  int64_t max_cells_;
  int dropped_bits_ = 0;
  size_t size_ = 0;
  std::vector<ProbCell> slots_;  // open addressing, a power of two of them, at most half full
};

}  // namespace segcal
