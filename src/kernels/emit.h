// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// The winner rule (definitions: preservation is about emitted values). Raises the probability of
// decision[v] to m(1 + 2^-23), m the largest other value, where it is not already above m, so that
// argmax(probs) = decision by any tie rule. m = 0 with q_win = 0 cannot happen: rows sum to one.
//
// `winning` [kTileVoxels], aligned as tiles are (null: not wanted), gets the probability of the
// decision, which is the largest then.
void KeepWinner(const uint16_t* decision,
                int64_t num_classes,
                float* probs,
                float* winning = nullptr) noexcept;

// Rounds to float16 (nearest even) with the winner rule in float16: q_win >= next float16 above m.
// keep_decision false rounds only. out is [num_classes][kTileVoxels] of IEEE half bits.
void RoundToHalf(const float* probs,
                 const uint16_t* decision,
                 bool keep_decision,
                 int64_t num_classes,
                 uint16_t* out) noexcept;

// Copies the first `count` voxels of a tile's rows to out[c * class_stride + v], past the caches
// where the rows are aligned to 64 bytes: an array written once and not read again soon. Other
// threads see it after FinishStreaming.
void StreamRows(const float* rows,
                int64_t num_classes,
                int64_t count,
                int64_t class_stride,
                float* out) noexcept;

// Waits until what this thread streamed is in memory; once per many tiles, because nothing is
// stored meanwhile.
void FinishStreaming() noexcept;

// A 64-bit digest of a tile's values (logits, offset as float, decision, labels of its `count`
// voxels), the same for every instruction set. Not cryptographic: it tells data sets apart.
uint64_t HashTile(const Tile& tile, uint64_t seed) noexcept;

}  // namespace segcal
