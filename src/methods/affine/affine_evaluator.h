// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/aligned.h"
#include "kernels/affine.h"
#include "methods/affine/affine_shape.h"
#include "methods/affine/expert_batch.h"

namespace segcal {

struct ExpertSums;

// Parameters as kernels take them: float32 and what is left of the double. Bounds leave most
// weights of many classes at zero; those are left out.
struct ExpertWeights {
  // Exact: sums are wanted in double arithmetic.
  ExpertWeights(const AffineShape& shape,
                const std::vector<double>& parameters,
                bool is_exact = false);
  std::vector<float> high;
  std::vector<float> low;
  std::vector<double> exact;  // empty where that is not wanted
  SparsePattern pattern;      // empty where it would leave out little
};

// Which parameters of an expert are looked at; empty where it would leave out little.
SparsePattern MakePattern(const AffineShape& shape, const std::vector<char>& wanted);

// Where the voxels of a batch go: vectors [voxel][stride], weights with rows of `voxels` values,
// spread [voxel] or null.
struct BlockLanes {
  float* vectors = nullptr;
  int64_t stride = 0;
  float* weights = nullptr;
  int64_t voxels = 0;
  float* spread = nullptr;
};

// Scratch and steps to evaluate one batch; one per thread.
class BatchEvaluator {
 public:
  explicit BatchEvaluator(const AffineShape& shape);

  // Prepares log sum exp of the shifted logits of a tile, where the space needs it.
  void LogNorms(const Tile& tile);
  const float* log_norms() const noexcept { return log_norms_.data(); }  // [kTileVoxels]

  // Loss and gradient of a batch added to `sums`.
  void AddSums(const ExpertBatch& batch, const ExpertWeights& weights, ExpertSums* sums);
  // The same without the gradient, to compare with: from weights in float32 alone.
  void AddLoss(const ExpertBatch& batch, const ExpertWeights& weights, ExpertSums* sums);
  // Hessian of the loss of a batch added to `hessian`, of which CompleteHessian makes the rest.
  void AddHessian(const ExpertBatch& batch, const ExpertWeights& weights, double* hessian);
  // Its product with a direction in the space of parameters, added to `product`; of a pattern that
  // is not empty those parameters only.
  void AddProduct(const ExpertBatch& batch,
                  const ExpertWeights& weights,
                  const ExpertWeights& direction,
                  const SparsePattern& wanted,
                  double* product);
  // What blocks of the Hessian are computed from (block_voxels.h), for the voxels of a batch.
  void WriteBlockVoxels(const ExpertBatch& batch,
                        const ExpertWeights& weights,
                        const BlockLanes& out);
  // The blocks [block][size][size] of a diagonal map, added to `blocks`.
  void AddDiagonalBlocks(const ExpertBatch& batch, const ExpertWeights& weights, double* blocks);
  // Probabilities by position, and the label's log-probability.
  TileProbs Probabilities(const ExpertBatch& batch, const ExpertWeights& weights, bool precise);

  const AffineShape& shape() const noexcept { return shape_; }

 private:
  void Scores(const ExpertBatch& batch, const ExpertWeights& weights, bool precise, float* scores);
  void DiagonalScores(const ExpertBatch& batch, const ExpertWeights& weights, float* scores) const;
  void AddSumsExact(const ExpertBatch& batch, const ExpertWeights& weights, ExpertSums* sums);
  void AddGradient(const ExpertBatch& batch, const SparsePattern& wanted, double* gradient);
  void AddDiagonalGradient(const ExpertBatch& batch, double* gradient) const;
  const float* RowProbabilities() noexcept;
  void AddDiagonalBlock(const ExpertBatch& batch,
                        const float* weight,
                        int64_t r,
                        int64_t s,
                        double* block,
                        int64_t stride) const;

  AffineShape shape_;
  AlignedBuffer memory_;
  float* rows_ = nullptr;       // [num_rows]
  float* probs_ = nullptr;      // [num_classes]
  float* log_label_ = nullptr;  // [1]
  float* weighted_ = nullptr;   // [num_features]
  std::vector<float> log_norms_;
  AlignedBuffer exact_memory_;
  double* exact_ =
      nullptr;  // of AddSumsExact, made when it is needed: [num_rows + num_classes + 1]
};

// The whole Hessian from what AddHessian has added.
void CompleteHessian(const AffineShape& shape, double* hessian);

// The evaluator of the calling thread: its scratch is too large to make anew for every tile.
BatchEvaluator& ThreadEvaluator(const AffineShape& shape);

}  // namespace segcal
