// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// The labels of a tile, without those of a class that is left out (-1: none).
class ForegroundLabels {
 public:
  explicit ForegroundLabels(int64_t left_out) : left_out_(static_cast<int32_t>(left_out)) {}

  const int32_t* Of(const int32_t* labels) noexcept {
    if (left_out_ < 0) return labels;
    for (int64_t v = 0; v < kTileVoxels; ++v)
      kept_[v] = labels[v] == left_out_ ? kNoLabel : labels[v];
    return kept_;
  }

 private:
  int32_t left_out_;
  alignas(64) int32_t kept_[kTileVoxels] = {};
};

}  // namespace segcal
