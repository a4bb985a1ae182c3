// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cells.h"
#include "measures/bin_rule.h"
#include "measures/bins.h"

namespace segcal {

// The finest ranges of confidence that are ever told apart: every bin of every edge rule with any
// of SupportedBinCounts(), and of the rules asked for besides, is a union of cells (BN5). Sums by
// cell therefore give every binned metric, also one thought of later.
class CellGrid {
 public:
  // Shared where no further rule is needed.
  static std::shared_ptr<const CellGrid> Make(const std::vector<BinRule>& further);

  CellEdges edges() const noexcept { return {.lower = lower_, .steps = steps_}; }
  int64_t num_cells() const noexcept { return static_cast<int64_t>(lower_.size()) - 1; }
  float lower(int64_t cell) const { return lower_[static_cast<size_t>(cell)]; }
  // Where the cells next to zero end.
  float low() const { return lower_[2]; }

  // The bin of every cell, -1 where the rule leaves it out; an Error if the rule is not supported.
  std::vector<int64_t> BinOfCells(const BinRule& rule) const;

 private:
  explicit CellGrid(const std::vector<BinRule>& rules);

  std::vector<float> lower_;  // of every cell, and infinity
  std::vector<CellStep> steps_;
};

// Sums of one cell and group, in a list of the cells that hold something.
struct Cell {
  int64_t group = 0;
  int64_t cell = 0;
  Bin sums;
};

// Sums by (group, cell), kept only for cells that hold something: a saturated prediction has few. A
// group is whatever voxels are told apart by: class, and band of distance.
class CellSums {
 public:
  CellSums(std::shared_ptr<const CellGrid> grid, int64_t num_groups);

  void Add(int64_t group, float x, bool correct);
  // The voxels of a tile by their groups, negative: left out, and the cells of their confidence
  // (FindCells); correct are those predicted as they are labelled.
  void AddTile(const int32_t* groups,
               const int32_t* cells,
               const float* confidence,
               const uint16_t* predicted,
               const int32_t* labels);
  // The labelled voxels of a tile by confidence; their group is the predicted class.
  void AddTopLabel(const float* confidence, const uint16_t* predicted, const int32_t* labels);
  // A row of one class against the rest (kernels/cells.h); `labels` [kTileVoxels].
  void AddRow(int64_t group, const float* row, int32_t class_index, const int32_t* labels);

  // Moves the sums of a block into order-free ones.
  void Flush();
  void Merge(const CellSums& other);
  void Pack(SumWriter* out) const;
  void Unpack(SumReader* in);

  // The bins of a rule: of one group, and of all together.
  std::vector<Bin> Bins(const BinRule& rule, int64_t group) const;
  std::vector<Bin> Bins(const BinRule& rule) const;
  // Voxels of a group, whatever their cell.
  int64_t Count(int64_t group) const;
  int64_t Count() const;

  // In the order of groups and cells.
  std::vector<Cell> Cells() const;
  const CellGrid& grid() const noexcept { return *grid_; }
  int64_t num_groups() const noexcept { return num_groups_; }

 private:
  // Sums since the last flush: of a block, whose voxels 32 bits can count.
  struct Pending {
    uint32_t count = 0;
    uint32_t correct = 0;
    double confidence = 0.0;
  };
  struct Total {
    int64_t key = 0;
    Bin sums;
  };
  // Neighbours share a cell more often than not; two sums taking turns wait half as long for each
  // other.
  static constexpr size_t kLanes = 2;

  // Index of the cell into totals_, which gets a new row at first use.
  size_t FindPlace(int64_t key) {
    const int32_t place = place_[static_cast<size_t>(key)];
    return place >= 0 ? static_cast<size_t>(place) : AddPlace(key);
  }
  size_t AddPlace(int64_t key);
  Pending& At(int64_t key, size_t lane) { return pending_[FindPlace(key) * kLanes + lane]; }
  void Count(int64_t key, size_t lane, float x, bool correct) {
    Pending& sums = At(key, lane);
    sums.count += 1;
    sums.correct += correct ? 1 : 0;
    sums.confidence += static_cast<double>(x);
  }

  std::shared_ptr<const CellGrid> grid_;
  int64_t num_groups_;
  std::vector<int32_t> place_;    // [group][cell]: index into totals_, or -1
  std::vector<Total> totals_;     // in the order of first use
  std::vector<Pending> pending_;  // [total][lane]: apart, so that the hot part is small
};

}  // namespace segcal
