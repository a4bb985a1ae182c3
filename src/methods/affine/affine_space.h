// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "kernels/tile.h"

namespace segcal {

// What an affine calibrator is affine in. Every one of them computes rows = W x + b from features x
// and turns rows into class scores; they differ in x and in that last step.
enum class AffineSpace {
  kRaw,          // x = z, or located as in AffineShape; rows are scores
  kDifferences,  // x = z_k - z_last for the classes before the last; rows are scores
  kLogProbs,     // x = log softmax(z); rows are scores
  kWinnerGaps,   // x = z_i - z_k for the other classes k; rows are gaps below the winner's score
  kSortedGaps,   // x = gaps between neighbours in sorted order; rows are gaps between neighbours
                 // again
};

struct AffineShape {
  AffineSpace space = AffineSpace::kRaw;
  bool per_decision = false;  // one expert per class that wins, else one for all
  bool diagonal = false;      // only the diagonal of the weights is free
  int64_t num_classes = 0;
  // Raw logits count from here, in this unit: x = (z - centre) / scale (A10).
  double centre = 0.0;
  double scale = 1.0;

  bool operator==(const AffineShape&) const = default;
  bool gaps() const noexcept {
    return space == AffineSpace::kWinnerGaps || space == AffineSpace::kSortedGaps;
  }
  int64_t num_experts() const noexcept { return per_decision ? num_classes : 1; }
  int64_t num_rows() const noexcept { return gaps() ? num_classes - 1 : num_classes; }
  // The last feature is 1: its weights are the bias.
  int64_t num_features() const noexcept {
    return gaps() || space == AffineSpace::kDifferences ? num_classes : num_classes + 1;
  }
  // Of one expert: [row][feature].
  int64_t num_parameters() const noexcept { return num_rows() * num_features(); }
};

// Parameters by blocks of those that know most of each other: of one row; or, where rows are
// cumulated and nearly tell the same, of one feature.
struct BlockLayout {
  explicit BlockLayout(const AffineShape& shape);
  int64_t Row(int64_t block, int64_t i) const noexcept { return by_feature ? i : block; }
  int64_t Feature(int64_t block, int64_t i) const noexcept { return by_feature ? block : i; }
  int64_t Parameter(int64_t block, int64_t i) const noexcept {
    return Row(block, i) * num_features + Feature(block, i);
  }

  bool by_feature;
  int64_t num_features;
  int64_t num_blocks;
  int64_t size;  // parameters in a block
};

// Up to kTileVoxels voxels that share an expert, with their features; positions are classes, or for
// gaps the winner first and the others in their order.
class ExpertBatch {
 public:
  ExpertBatch(const AffineShape& shape, int64_t expert);

  int64_t count() const noexcept { return count_; }
  bool full() const noexcept { return count_ == kTileVoxels; }
  const float* features() const noexcept { return features_; }
  const int32_t* labels() const noexcept { return labels_; }  // as positions
  // What a voxel of a sample stands for; null: every voxel counts once.
  const float* weights() const noexcept { return weights_.empty() ? nullptr : weights_.data(); }
  // Where in its tile every voxel was.
  std::span<const int32_t> voxels() const noexcept {
    return {voxels_.data(), static_cast<size_t>(count_)};
  }

  // Adds voxels of a tile, no more than there is room for. log_norms[v] is log sum exp of the
  // shifted logits of voxel v; used by kLogProbs only.
  int64_t room() const noexcept { return kTileVoxels - count_; }
  void Add(const Tile& tile, std::span<const int32_t> voxels, const float* log_norms);
  // Adds a voxel whose features (without the constant 1) and label position are known, and that
  // stands for `weight` voxels.
  void AddColumn(const float* features, int32_t label, float weight);
  // The features and label of the last voxel added.
  void CopyLast(float* features, int32_t* label) const noexcept;
  void Clear() noexcept;
  // Clears it for voxels of another expert.
  void Restart(int64_t expert) noexcept;

  // Scores by position from rows that are gaps: minus the (cumulated) gaps. Sorted classes with
  // equal logits keep equal scores: which of them comes first says nothing (A3).
  void ScoresFromGaps(const float* rows, float* scores) const noexcept;
  // The transpose: residuals by position to residuals of rows, in place of the first num_rows rows.
  void RowsFromScores(float* residual) const noexcept;
  // Sets a row of values to 0 at voxels where its gap does not count for such a tie.
  void ZeroTies(int64_t row, float* values) const noexcept;
  // Values by position and lane, back to the classes and voxels of the tile they came from.
  void Scatter(const float* values, float* rows) const noexcept;

 private:
  void AddShifted(const Tile& tile, std::span<const int32_t> voxels, const float* log_norms);
  void AddGaps(const Tile& tile, std::span<const int32_t> voxels);
  void AddSortedGaps(const Tile& tile, int64_t v, int64_t lane);
  int64_t ClassAt(int64_t position) const noexcept;  // without sorting

  AffineShape shape_;
  int64_t expert_;
  int64_t count_ = 0;
  AlignedBuffer memory_;
  float* features_ = nullptr;
  int32_t* labels_ = nullptr;
  std::vector<float> weights_;  // of AddColumn
  std::vector<int32_t> voxels_;
  std::vector<uint16_t> order_;  // [lane][position], of voxels from tiles, kSortedGaps only
};

// The voxels of a tile by the expert they belong to; one per thread.
class VoxelsByExpert {
 public:
  explicit VoxelsByExpert(const AffineShape& shape);

  // Voxels without a label can be left out.
  void Assign(const Tile& tile, bool labelled_only);
  std::span<const int32_t> of(int64_t expert) const noexcept;

 private:
  bool per_decision_;
  std::vector<int32_t> begin_;   // [expert + 1]
  std::vector<int32_t> voxels_;  // grouped by expert, ascending
};

}  // namespace segcal
