// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/prob_cells.h"

#include <algorithm>

namespace segcal {

ProbCells::ProbCells(int64_t max_cells) : max_cells_(std::max<int64_t>(max_cells, 1)), slots_(64) {}

void ProbCells::Insert(const ProbCell& cell) {
  const size_t mask = slots_.size() - 1;
  size_t slot = (cell.key * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
  while (slots_[slot].count != 0 && slots_[slot].key != cell.key) slot = (slot + 1) & mask;
  ProbCell& at = slots_[slot];
  if (at.count == 0) {
    at = cell;
    ++size_;
    if (static_cast<int64_t>(size_) > max_cells_) {
      Coarsen();
    } else if (2 * size_ > slots_.size()) {
      Rehash(2 * slots_.size(), 0);
    }
    return;
  }
  at.lower = std::min(at.lower, cell.lower);
  at.upper = std::max(at.upper, cell.upper);
  at.count += cell.count;
  at.hits += cell.hits;
}

void ProbCells::Rehash(size_t slots, int drop) {
  std::vector<ProbCell> old(slots);
  old.swap(slots_);
  size_ = 0;
  dropped_bits_ += drop;
  for (ProbCell& cell : old) {
    if (cell.count == 0) continue;
    cell.key >>= drop;
    Insert(cell);
  }
}

// Drops as many bits as it takes to have no more than max_cells_, and no more.
void ProbCells::Coarsen() {
  std::vector<uint32_t> keys;
  keys.reserve(size_);
  for (const ProbCell& cell : slots_) {
    if (cell.count != 0) keys.push_back(cell.key);
  }
  std::sort(keys.begin(), keys.end());
  int drop = 0;
  for (auto left = static_cast<int64_t>(keys.size()); left > max_cells_;) {
    ++drop;
    left = 1;
    for (size_t i = 1; i < keys.size(); ++i) {
      left += (keys[i] >> drop) != (keys[i - 1] >> drop) ? 1 : 0;
    }
  }
  Rehash(slots_.size(), drop);
}

void ProbCells::Merge(const ProbCells& other) {
  if (other.dropped_bits_ > dropped_bits_) {
    Rehash(slots_.size(), other.dropped_bits_ - dropped_bits_);
  }
  for (ProbCell cell : other.slots_) {
    if (cell.count == 0) continue;
    cell.key >>= dropped_bits_ - other.dropped_bits_;
    Insert(cell);
  }
}

void ProbCells::Pack(SumWriter* out) const {
  const std::vector<ProbCell> cells = Sorted();
  out->Put(int64_t{dropped_bits_});
  out->Put(static_cast<int64_t>(cells.size()));
  for (const ProbCell& cell : cells) {
    out->Put(cell.key);
    out->Put(cell.lower);
    out->Put(cell.upper);
    out->Put(cell.count);
    out->Put(cell.hits);
  }
}

void ProbCells::Unpack(SumReader* in) {
  const auto dropped = in->Take<int64_t>();
  if (dropped < 0 || dropped > 31) in->Refuse("dropped bits", 31, static_cast<size_t>(dropped));
  *this = ProbCells(max_cells_);
  dropped_bits_ = static_cast<int>(dropped);
  for (int64_t left = in->TakeCount(); left > 0; --left) {
    ProbCell cell;
    cell.key = in->Take<uint32_t>();
    cell.lower = in->Take<float>();
    cell.upper = in->Take<float>();
    cell.count = in->Take<int64_t>();
    cell.hits = in->Take<int64_t>();
    if (cell.count > 0) Insert(cell);
  }
}

std::vector<ProbCell> ProbCells::Sorted() const {
  std::vector<ProbCell> cells;
  cells.reserve(size_);
  for (const ProbCell& cell : slots_) {
    if (cell.count != 0) cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end(), [](const ProbCell& a, const ProbCell& b) {
    return a.key < b.key;
  });
  return cells;
}

}  // namespace segcal
