// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/pool.h"

// The parts of PoolTile, which chooses between them.
namespace segcal {

// Voxels the double path works on at a time: its scratch then stays in the cache for most C.
inline constexpr int64_t kPoolBlock = 32;

// Rounded log-probabilities may exceed 0 a little; anything above this is a logit.
inline constexpr float kMaxLogProb = 1e-3f;
// Bounds on the sum of one row of probabilities, and the deviation from 1 that is counted.
inline constexpr double kMinProbSum = 0.5;
inline constexpr double kMaxProbSum = 1.5;
inline constexpr double kProbSumTolerance = 1e-3;

// The value at (c, v) of a member.
double MemberValue(const MemberRows& rows, int64_t c, int64_t v) noexcept;

// The first fault among voxels [first, first + count), by voxel, then member; kNone if there is
// none.
PoolStatus FindPoolFault(std::span<const MemberRows> members,
                         int64_t num_classes,
                         int64_t first,
                         int64_t count,
                         const PoolOptions& options) noexcept;

// One float16 or float32 member of logits or log-probabilities with voxel_stride 1, kTileVoxels
// voxels. Rows may be out.logits itself. False if some voxel has a fault.
bool PoolFloatRows(const MemberRows& rows,
                   int64_t num_classes,
                   const PoolOptions& options,
                   const PoolOutput& out) noexcept;

// kPoolBlock voxels of any members from lane `first` on, of which `count` exist. False if some
// voxel has a fault. Adds to *renormalised.
bool PoolDoubleBlock(std::span<const MemberRows> members,
                     int64_t num_classes,
                     int64_t first,
                     int64_t count,
                     const PoolOptions& options,
                     double* scratch,
                     const PoolOutput& out,
                     int64_t* renormalised) noexcept;

}  // namespace segcal
