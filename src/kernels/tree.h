// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tree_weights.h"

namespace segcal {

// The local temperature tree (LT1-LT4) on strips of a padded plane. All filters of a voxel are
// computed in one pass over its neighbourhood, and so are all their weight gradients: the input
// itself never needs one.

// The unit of work: rows of kStripColumns voxels. Twelve rows of slopes for seven filters (21 KiB)
// and one channel with its halo (6 KiB) stay in the first-level cache.
inline constexpr int64_t kStripRows = 12;
inline constexpr int64_t kStripColumns = 64;
inline constexpr int64_t kStripVoxels = kStripRows * kStripColumns;

// Channels of a plane with kTreeHalo more voxels on every side.
struct PaddedPlane {
  int64_t channels = 0;
  const float* data = nullptr;  // the first voxel of the halo, channel 0
  int64_t row_stride = 0;
  int64_t channel_stride = 0;

  // The same plane, seen from another voxel.
  PaddedPlane From(int64_t y, int64_t x) const noexcept {
    return {channels, data + y * row_stride + x, row_stride, channel_stride};
  }
};

// Up to kStripRows rows of kStripColumns voxels whose upper left one is voxel (0, 0) of the planes.
// All columns are computed, so kStripColumns + 2 kTreeHalo columns must be readable and finite.
struct TreeStrip {
  PaddedPlane scores;      // what the tree looks at, one channel per class
  PaddedPlane image = {};  // channels 0: none
  int64_t rows = 0;
};

// Values per voxel, rows kStripColumns apart.
struct TreeValues {
  alignas(64) float temperature[kStripVoxels];              // (LT3) or (LT4)
  alignas(64) float slopes[kMaxTreeFilters][kStripVoxels];  // of the temperature by each response
};

// Temperatures, and their derivatives by the responses (LT6). The value of a voxel does not depend
// on where in a strip it lies. Maximum error: responses (25 C + 1) 2^-24 of the sum of their
// absolute terms, temperatures 1e-6 of themselves beside.
void TreeTemperatures(const TreeStrip& strip, const TreeWeights& weights, TreeValues* out) noexcept;
void TreeTemperaturesAndSlopes(const TreeStrip& strip,
                               const TreeWeights& weights,
                               TreeValues* out) noexcept;

struct TreeLoss {
  int64_t count = 0;  // labelled voxels
  double loss = 0.0;
  double slope = 0.0;  // of the loss, by a change common to all temperatures
};

// Adds the negative log-likelihood (LT5) of the labelled voxels of the strip at the given
// temperatures, and puts its derivative by each temperature into loss_slopes (0 without label).
// `labels` has rows label_stride apart; columns from `columns` on count as not labelled. Maximum
// error: 2e-6 of the loss.
void AddTreeLoss(const TreeStrip& strip,
                 const int32_t* labels,
                 int64_t label_stride,
                 int64_t columns,
                 const float* temperature,
                 float* loss_slopes,
                 TreeLoss* total) noexcept;

// Adds to `gradient` (laid out as TreeWeights packs, in double) what the voxels of the strip
// contribute by (LT7). Sums over a strip are float32; values->slopes are overwritten. Maximum
// error: 1e-5 of the sum of the absolute terms.
void AddTreeGradient(const TreeStrip& strip,
                     const TreeWeights& weights,
                     const float* loss_slopes,
                     TreeValues* values,
                     double* gradient) noexcept;

}  // namespace segcal
