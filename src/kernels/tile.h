// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace segcal {

// The unit on which all dense work happens. Channel rows are kTileVoxels floats apart, so a kernel
// runs along voxels, one per vector lane, and loops over channels.
//
// 256 voxels x 20 classes x 4 bytes = 20 KiB: a tile and its output stay in the first- and
// second-level cache. The number is part of the definition of every sum (results would change in
// the last bits with another one), so it is a constant, not an option.
inline constexpr int64_t kTileVoxels = 256;

// Label of a voxel that takes no part: ignored, masked, unlabelled, or past the end of the case.
inline constexpr int32_t kNoLabel = -1;

// Where the rows of the tile that comes next lie, in memory or in a block. A kernel that computes
// for long fetches them meanwhile, a few lines per step: otherwise memory rests during arithmetic,
// and arithmetic while the next tile is gathered. All lines at once would wait for each other
// (measured: a fourth less time for a temperature pass line by line, a third more at once).
struct TileAhead {
  const std::byte* data = nullptr;  // null: unknown
  int64_t class_bytes = 0;          // from class to class
  int64_t voxel_bytes = 0;          // from voxel to voxel

  // The line of voxel v of class c.
  const std::byte* At(int64_t c, int64_t v) const noexcept {
    return data + c * class_bytes + v * voxel_bytes;
  }
};

// The pooled prediction of up to kTileVoxels consecutive voxels of one case. All pointers are to
// the owner's memory (data/voxel_block.h), 64-byte aligned.
//
// Lanes [count, kTileVoxels) are padding: logits 0, offset 0, decision 0, label kNoLabel; kernels
// may process them.
struct Tile {
  int64_t num_classes = 0;
  int64_t count = 0;
  int64_t first_voxel = 0;             // within the case, in C order
  const float* logits = nullptr;       // [num_classes][kTileVoxels]: z - max z, in [floor, 0]
  const double* offset = nullptr;      // [kTileVoxels]: max z, so that z = logits + offset
  const uint16_t* decision = nullptr;  // [kTileVoxels]: argmax of the pooled prediction, in double
  const int32_t* labels = nullptr;     // [kTileVoxels]: class index or kNoLabel
  // [count]: not zero where the case's mask leaves the voxel out; null without a mask.
  const uint8_t* masked = nullptr;
  TileAhead ahead = {};

  bool Masked(int64_t v) const noexcept { return masked != nullptr && masked[v] != 0; }
};

// What a calibrator emits for a tile.
struct TileProbs {
  float* probs = nullptr;      // [num_classes][kTileVoxels]
  float* log_label = nullptr;  // [kTileVoxels]: log of the label's probability, 0 where kNoLabel
};

}  // namespace segcal
