// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "methods/affine/affine_objective.h"
#include "methods/affine/expert_batch.h"

namespace segcal {

// Voxels drawn at random over all cases, kept in memory for repeated evaluation. They are drawn
// apart for every pair of decision and label, so that rare ones are in it, and each stands for as
// many voxels as its stratum has per drawn one.
class ExpertSample {
 public:
  // `confusion` counts the labelled voxels, [decision][label]. About sizes[e] voxels for expert e,
  // and the rest of what rare strata have. One pass; deterministic by seed.
  ExpertSample(const CaseStream& stream,
               const Pooling& pooling,
               const AffineShape& shape,
               const std::vector<int64_t>& confusion,
               const std::vector<int64_t>& sizes,
               uint64_t seed);

  // Sums over the sample's voxels of one expert, in double arithmetic where that is wanted; the
  // same bits for any number of threads.
  ExpertSums Evaluate(int64_t expert,
                      const std::vector<double>& parameters,
                      bool exact,
                      int threads) const;
  // Sum of the Hessians, [parameter][parameter], symmetric.
  std::vector<double> Hessian(int64_t expert,
                              const std::vector<double>& parameters,
                              int threads) const;
  // Its product with a direction; only the wanted parameters of it need be right.
  std::vector<double> Product(int64_t expert,
                              const std::vector<double>& parameters,
                              const std::vector<double>& direction,
                              const std::vector<char>& wanted,
                              int threads) const;
  // Its blocks, [block][size][size] of BlockLayout, times `scale`: each from about so many voxels
  // at most, which stand for all; of sorted gaps as if no two logits were equal.
  std::vector<double> Blocks(int64_t expert,
                             const std::vector<double>& parameters,
                             double scale,
                             int64_t voxels,
                             int threads) const;
  int64_t bytes() const noexcept;
  // What Blocks takes beside its result, for one expert at a time.
  int64_t block_bytes() const noexcept;
  // How many there are of one expert, and what they stand for together.
  int64_t voxels(int64_t expert) const noexcept;
  double weight(int64_t expert) const noexcept { return weights_[static_cast<size_t>(expert)]; }

 private:
  std::vector<const ExpertBatch*> SpreadBatches(int64_t expert) const;

  AffineShape shape_;
  std::vector<std::vector<ExpertBatch>> batches_;  // [expert]
  std::vector<double> weights_;
};

}  // namespace segcal
