// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
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
  ExpertWeights(const AffineShape& shape, const std::vector<double>& parameters);
  std::vector<float> high;
  std::vector<float> low;
  SparsePattern pattern;  // empty where it would leave out little
};

// Which parameters of an expert are looked at; empty where it would leave out little.
SparsePattern MakePattern(const AffineShape& shape, const std::vector<char>& wanted);

// Scratch and steps to evaluate one batch; one per thread.
class BatchEvaluator {
 public:
  explicit BatchEvaluator(const AffineShape& shape);

  // Prepares log sum exp of the shifted logits of a tile, where the space needs it.
  void LogNorms(const Tile& tile);
  const float* log_norms() const noexcept { return log_norms_.data(); }  // [kTileVoxels]

  // Loss and gradient of a batch added to `sums`.
  void AddSums(const ExpertBatch& batch, const ExpertWeights& weights, ExpertSums* sums);
  // Hessian of the loss of a batch added to `hessian`.
  void AddHessian(const ExpertBatch& batch, const ExpertWeights& weights, double* hessian);
  // Its product with a direction in the space of parameters, added to `product`; of a pattern that
  // is not empty those parameters only.
  void AddProduct(const ExpertBatch& batch,
                  const ExpertWeights& weights,
                  const ExpertWeights& direction,
                  const SparsePattern& wanted,
                  double* product);
  // Some of its blocks, of the layout BlockLayout, added to blocks, [block][size][size]; of sorted
  // gaps as if no two logits were equal.
  void AddBlocks(const ExpertBatch& batch,
                 const ExpertWeights& weights,
                 int64_t first,
                 int64_t end,
                 double* blocks);
  // Probabilities by position, and the label's log-probability.
  TileProbs Probabilities(const ExpertBatch& batch, const ExpertWeights& weights, bool precise);

  const AffineShape& shape() const noexcept { return shape_; }

 private:
  void Scores(const ExpertBatch& batch, const ExpertWeights& weights, bool precise, float* scores);
  void DiagonalScores(const ExpertBatch& batch, const ExpertWeights& weights, float* scores) const;
  void AddGradient(const ExpertBatch& batch, const SparsePattern& wanted, double* gradient);
  void AddDiagonalGradient(const ExpertBatch& batch, double* gradient) const;
  const float* RowProbabilities() noexcept;
  void AddRowBlock(const ExpertBatch& batch, const float* q, int64_t r, double* block);
  void AddFeatureBlock(const ExpertBatch& batch, const float* t, int64_t k, double* block);
  void AddSymmetric(const float* rows,
                    int64_t num_rows,
                    int64_t count,
                    std::span<double* const> blocks,
                    int64_t stride);
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
  std::vector<double> block_;  // [rows of a strip][num_features]
};

// The evaluator of the calling thread: its scratch is too large to make anew for every tile.
BatchEvaluator& ThreadEvaluator(const AffineShape& shape);

}  // namespace segcal
