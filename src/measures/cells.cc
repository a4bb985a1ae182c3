// SPDX-License-Identifier: Apache-2.0
#include "measures/cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/throw.h"

namespace segcal {
namespace {

std::vector<BinRule> SupportedRules() {
  std::vector<BinRule> rules;
  for (const std::string& edges : EdgeNames()) {
    for (const int64_t bins : SupportedBinCounts()) rules.push_back({bins, edges});
  }
  return rules;
}

bool IsSupported(const BinRule& rule) {
  const std::vector<int64_t>& counts = SupportedBinCounts();
  return std::find(counts.begin(), counts.end(), rule.bins) != counts.end();
}

}  // namespace

CellGrid::CellGrid(const std::vector<BinRule>& rules) {
  // Zero alone, what is above it, and one apart: kernels/cells.h counts on the first two.
  lower_ = {0.0f, std::numeric_limits<float>::denorm_min(), 1.0f};
  for (const BinRule& rule : rules) {
    const std::vector<float> starts = BinStarts(rule);
    lower_.insert(lower_.end(), starts.begin(), starts.end());
  }
  std::sort(lower_.begin(), lower_.end());
  lower_.erase(std::unique(lower_.begin(), lower_.end()), lower_.end());
  lower_.push_back(std::numeric_limits<float>::infinity());
  steps_ = MakeCellSteps(lower_);
}

std::shared_ptr<const CellGrid> CellGrid::Make(const std::vector<BinRule>& further) {
  static const std::shared_ptr<const CellGrid> standard(new CellGrid(SupportedRules()));
  std::vector<BinRule> rules = SupportedRules();
  bool more = false;
  for (const BinRule& rule : further) {
    if (IsSupported(rule)) continue;
    rules.push_back(rule);
    more = true;
  }
  return more ? std::shared_ptr<const CellGrid>(new CellGrid(rules)) : standard;
}

std::vector<int64_t> CellGrid::BinOfCells(const BinRule& rule) const {
  const std::vector<float> starts = BinStarts(rule);
  for (const float start : starts) {
    if (!std::binary_search(lower_.begin(), lower_.end(), start)) {
      Throw(ErrorCode::kInvalidArgument,
            "{} {} bins are no unions of the cells that were summed",
            rule.bins,
            rule.edges);
    }
  }
  std::vector<int64_t> bins;
  for (int64_t cell = 0; cell < num_cells(); ++cell) {
    const auto above = std::upper_bound(starts.begin(), starts.end(), lower(cell));
    bins.push_back(above - starts.begin() - 1);
  }
  return bins;
}

CellSums::CellSums(std::shared_ptr<const CellGrid> grid, int64_t num_groups)
    : grid_(std::move(grid)),
      num_groups_(num_groups),
      place_(static_cast<size_t>(num_groups * grid_->num_cells()), -1) {}

size_t CellSums::AddPlace(int64_t key) {
  const size_t place = totals_.size();
  place_[static_cast<size_t>(key)] = static_cast<int32_t>(place);
  totals_.emplace_back().key = key;
  pending_.resize(pending_.size() + kLanes);
  return place;
}

void CellSums::Add(int64_t group, float x, bool correct) {
  Count(group * grid_->num_cells() + FindCell(x, grid_->edges()), 0, x, correct);
}

void CellSums::AddTile(const int32_t* groups,
                       const int32_t* cells,
                       const float* confidence,
                       const uint16_t* predicted,
                       const int32_t* labels) {
  const int64_t num_cells = grid_->num_cells();
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (groups[v] < 0) continue;
    const size_t lane = static_cast<size_t>(v) % kLanes;
    Count(groups[v] * num_cells + cells[v], lane, confidence[v], predicted[v] == labels[v]);
  }
}

void CellSums::AddTopLabel(const float* confidence,
                           const uint16_t* predicted,
                           const int32_t* labels) {
  int32_t cells[kTileVoxels];
  FindCells(confidence, kTileVoxels, grid_->edges(), cells);
  int32_t groups[kTileVoxels];
  for (int64_t v = 0; v < kTileVoxels; ++v) groups[v] = labels[v] == kNoLabel ? -1 : predicted[v];
  AddTile(groups, cells, confidence, predicted, labels);
}

void CellSums::AddRow(int64_t group, const float* row, int32_t class_index, const int32_t* labels) {
  LowSums low;
  alignas(64) float others[kTileVoxels];
  const int64_t n = SplitRow(row, class_index, labels, grid_->low(), &low, others);
  const int64_t first = group * grid_->num_cells();
  if (low.zeros > 0) {
    Pending& zero = At(first, 0);
    zero.count += static_cast<uint32_t>(low.zeros);
    zero.correct += static_cast<uint32_t>(low.zeros_correct);
  }
  if (low.count > low.zeros) {
    Pending& next = At(first + 1, 0);
    next.count += static_cast<uint32_t>(low.count - low.zeros);
    next.correct += static_cast<uint32_t>(low.correct - low.zeros_correct);
    next.confidence += low.confidence;
  }
  alignas(64) int32_t cells[kTileVoxels];
  FindCells(others, n, grid_->edges(), cells);
  for (int64_t i = 0; i < n; ++i) {
    const size_t lane = static_cast<size_t>(i) % kLanes;
    Count(first + cells[i], lane, std::fabs(others[i]), std::signbit(others[i]));
  }
}

void CellSums::Flush() {
  for (size_t i = 0; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.count == 0) continue;
    Bin& total = totals_[i / kLanes].sums;
    total.count += pending.count;
    total.correct += pending.correct;
    total.confidence.Add(pending.confidence);
    pending = {};
  }
}

void CellSums::Merge(const CellSums& other) {
  // By index: merged with itself, the list does not grow.
  for (size_t i = 0; i < other.totals_.size(); ++i) {
    const size_t place = FindPlace(other.totals_[i].key);
    MergeSums(other.totals_[i].sums, &totals_[place].sums);
  }
}

// In the order of keys: totals_ is in the order of first use.
void CellSums::Pack(SumWriter* out) const {
  std::map<int64_t, Bin> filled;
  for (const Total& total : totals_) {
    if (total.sums.count > 0) filled[total.key] = total.sums;
  }
  PackSums(filled, out);
}

void CellSums::Unpack(SumReader* in) {
  std::map<int64_t, Bin> filled;
  UnpackSums(in, &filled);
  *this = CellSums(grid_, num_groups_);
  for (const auto& [key, sums] : filled) {
    if (key < 0 || key >= static_cast<int64_t>(place_.size()))
      in->Refuse("a cell", place_.size(), static_cast<size_t>(key));
    totals_[FindPlace(key)].sums = sums;
  }
}

std::vector<Bin> CellSums::Bins(const BinRule& rule, int64_t group) const {
  const std::vector<int64_t> bin_of = grid_->BinOfCells(rule);
  std::vector<Bin> bins(BinStarts(rule).size());
  const auto first = static_cast<size_t>(group * grid_->num_cells());
  for (size_t k = 0; k < bin_of.size(); ++k) {
    const int32_t place = place_[first + k];
    if (place < 0 || bin_of[k] < 0) continue;
    MergeSums(totals_[static_cast<size_t>(place)].sums, &bins[static_cast<size_t>(bin_of[k])]);
  }
  return bins;
}

std::vector<Bin> CellSums::Bins(const BinRule& rule) const {
  const std::vector<int64_t> bin_of = grid_->BinOfCells(rule);
  std::vector<Bin> bins(BinStarts(rule).size());
  for (const Total& total : totals_) {
    const int64_t k = bin_of[static_cast<size_t>(total.key % grid_->num_cells())];
    if (k >= 0) MergeSums(total.sums, &bins[static_cast<size_t>(k)]);
  }
  return bins;
}

int64_t CellSums::Count(int64_t group) const {
  int64_t count = 0;
  for (const Total& total : totals_) {
    if (total.key / grid_->num_cells() == group) count += total.sums.count;
  }
  return count;
}

int64_t CellSums::Count() const {
  int64_t count = 0;
  for (const Total& total : totals_) count += total.sums.count;
  return count;
}

std::vector<Cell> CellSums::Cells() const {
  std::vector<Cell> cells;
  for (size_t key = 0; key < place_.size(); ++key) {
    if (place_[key] < 0) continue;
    const Bin& sums = totals_[static_cast<size_t>(place_[key])].sums;
    if (sums.count == 0) continue;
    const auto at = static_cast<int64_t>(key);
    cells.push_back(
        {.group = at / grid_->num_cells(), .cell = at % grid_->num_cells(), .sums = sums});
  }
  return cells;
}

}  // namespace segcal
