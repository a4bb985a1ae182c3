// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "methods/affine/affine_evaluator.h"

namespace segcal {

// What blocks of an expert's Hessian are computed from (BlockLayout): for every voxel the vector
// whose products with itself a block adds up, and its weight in every block.
class BlockVoxels {
 public:
  // Of these batches of one expert, at these parameters; the same bits for any number of threads.
  BlockVoxels(const AffineShape& shape,
              const std::vector<const ExpertBatch*>& batches,
              const ExpertWeights& weights,
              int threads);

  // Block b times `scale`, [size][size]. From about `most` voxels where there are more: those that
  // weigh most, and of the others some that stand for the rest.
  void ComputeBlock(int64_t b, int64_t most, double scale, double* block) const;

  // Memory for so many voxels.
  static int64_t Bytes(const AffineShape& shape, int64_t voxels) noexcept;

 private:
  struct Chosen {
    int64_t voxel;
    float weight;
  };
  std::vector<Chosen> Choose(int64_t b, int64_t most) const;

  BlockLayout layout_;
  int64_t stride_;
  int64_t count_ = 0;
  AlignedBuffer memory_;
  float* vectors_ = nullptr;    // [voxel][stride]
  std::vector<float> weights_;  // [block][voxel]
  // What the size of a block grows with beside the weight, by voxel: of features that is in the
  // weight already; empty.
  std::vector<float> spread_;
};

}  // namespace segcal
