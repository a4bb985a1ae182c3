// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

}  // namespace segcal
