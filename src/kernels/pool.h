// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/dtype.h"
#include "kernels/tile.h"
#include "segcal/input_kind.h"

namespace segcal {

// How members are averaged: their logits (a product of experts) or their probabilities (a mixture).
enum class PoolRule { kMeanLogits, kMeanProbs };

// Where one member's values of a tile lie: element (c, v) at data[c * class_stride + v *
// voxel_stride], strides in elements. dtype is a float type.
struct MemberRows {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t class_stride = 0;
  int64_t voxel_stride = 1;
};

struct PoolOptions {
  InputKind input = InputKind::kLogits;
  PoolRule rule = PoolRule::kMeanLogits;
  // The lowest value of (z - max z) for logits; for probabilities the lowest log p. See pool.cc.
  double floor = -87.0;
};

// Caller-owned outputs, laid out as in Tile; padding lanes are filled.
struct PoolOutput {
  float* logits = nullptr;
  double* offset = nullptr;
  uint16_t* decision = nullptr;
};

// Why a voxel cannot be pooled; the caller turns it into an Error naming file and voxel.
enum class PoolFault {
  kNone,
  kNotANumber,       // NaN, or +inf
  kNoPossibleClass,  // every class is -inf or of probability 0, for one member or in the mean of
                     // logits
  kNegativeProb,     // probability below 0
  kPositiveLogProb,  // log-probability above 1e-3: these are logits
  kSumNotOne,        // sum of probabilities outside [0.5, 1.5]: not a distribution over classes
};

struct PoolStatus {
  PoolFault fault = PoolFault::kNone;
  int64_t voxel = 0;   // lane of the first bad voxel
  int64_t member = 0;  // its member; 0 if only the mean has the fault
  int64_t renormalised =
      0;  // member rows of probabilities whose sum differed from 1 by more than 1e-3
};

// Bytes of scratch PoolTile needs for num_classes classes; 64-byte aligned by the caller.
int64_t PoolScratchBytes(int64_t num_classes) noexcept;

// Gathers `count` voxels of every member, pools them in double, takes the decision there (ties to
// the lowest class), subtracts the maximum, applies the floor and rounds to float32 once: maximum
// error 2^-24 of a value, and 1e-13 of the largest before that. One float16/float32 member of
// logits takes a float path that gives the same bits.
PoolStatus PoolTile(std::span<const MemberRows> members,
                    int64_t num_classes,
                    int64_t count,
                    const PoolOptions& options,
                    void* scratch,
                    const PoolOutput& out) noexcept;

}  // namespace segcal
