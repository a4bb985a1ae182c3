// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_evaluator.h"

#include <algorithm>

#include "core/check.h"
#include "kernels/affine_exact.h"
#include "kernels/softmax.h"
#include "methods/affine/affine_gaps.h"
#include "methods/affine/affine_objective.h"

namespace segcal {
namespace {

// A pattern is worth its indirection where it has at most one of so many entries.
constexpr int64_t kDensestPattern = 2;

// What a voxel's features count in the block of one row, of probabilities q: q_r (1 - q_r).
void RowWeights(const ExpertBatch& batch, const float* q, int64_t r, float* weight) {
  for (int64_t v = 0; v < batch.count(); ++v) {
    const float p = q[r * kTileVoxels + v];
    weight[v] = (batch.weights() == nullptr ? 1.0f : batch.weights()[v]) * p * (1.0f - p);
  }
}

// An empty pattern leaves out nothing.
const SparsePattern* PatternOrNull(const SparsePattern& pattern) {
  return pattern.begin.empty() ? nullptr : &pattern;
}

// Counts the voxels of a batch and adds their losses.
template <class T>
void AddLosses(const ExpertBatch& batch, const T* log_label, ExpertSums* sums) {
  const float* weights = batch.weights();
  double loss = 0.0;
  double count = 0.0;
  for (int64_t v = 0; v < batch.count(); ++v) {
    const double w = weights == nullptr ? 1.0 : static_cast<double>(weights[v]);
    loss -= w * static_cast<double>(log_label[v]);
    count += w;
  }
  sums->count += count;
  sums->loss += loss;
}

// out[k][v] = weights[v] rows[k][v]
void WeightRows(const float* rows, int64_t num_rows, const float* weights, float* out) {
  for (int64_t k = 0; k < num_rows; ++k) {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      out[k * kTileVoxels + v] = weights[v] * rows[k * kTileVoxels + v];
    }
  }
}

}  // namespace

ExpertWeights::ExpertWeights(const AffineShape& shape,
                             const std::vector<double>& parameters,
                             bool is_exact) {
  if (is_exact && !shape.diagonal) exact = parameters;
  std::vector<char> not_zero(parameters.size());
  high.resize(parameters.size());
  low.resize(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    high[i] = static_cast<float>(parameters[i]);
    low[i] = static_cast<float>(parameters[i] - static_cast<double>(high[i]));
    not_zero[i] = parameters[i] != 0.0 ? 1 : 0;
  }
  pattern = MakePattern(shape, not_zero);
}

SparsePattern MakePattern(const AffineShape& shape, const std::vector<char>& wanted) {
  const int64_t num_rows = shape.num_rows();
  const int64_t num_features = shape.num_features();
  const auto most = static_cast<size_t>((num_rows + kSparseRows - 1) / kSparseRows * num_features /
                                        kDensestPattern);
  SparsePattern pattern{.begin = {0}, .columns = {}};
  std::vector<char> in_group(static_cast<size_t>(num_features));
  for (int64_t first = 0; first < num_rows; first += kSparseRows) {
    std::fill(in_group.begin(), in_group.end(), char{0});
    for (int64_t r = first; r < std::min(first + kSparseRows, num_rows); ++r) {
      const char* of_row = wanted.data() + r * num_features;
      for (size_t k = 0; k < in_group.size(); ++k) in_group[k] |= of_row[k];
    }
    for (size_t k = 0; k < in_group.size(); ++k) {
      if (in_group[k] != 0) pattern.columns.push_back(static_cast<int32_t>(k));
    }
    if (pattern.columns.size() > most) return {};
    pattern.begin.push_back(static_cast<int32_t>(pattern.columns.size()));
  }
  return pattern;
}

BatchEvaluator::BatchEvaluator(const AffineShape& shape)
    : shape_(shape), log_norms_(static_cast<size_t>(kTileVoxels)) {
  const int64_t rows = shape.num_rows() + shape.num_classes + 1 + shape.num_features();
  rows_ = reinterpret_cast<float*>(memory_.Reserve(rows * kTileVoxels * int64_t{sizeof(float)}));
  std::fill_n(rows_, rows * kTileVoxels, 0.0f);
  probs_ = rows_ + shape.num_rows() * kTileVoxels;
  log_label_ = probs_ + shape.num_classes * kTileVoxels;
  weighted_ = log_label_ + kTileVoxels;
}

// Without the offset, which would leave its rounding behind.
void BatchEvaluator::LogNorms(const Tile& tile) {
  if (shape_.space != AffineSpace::kLogProbs) return;
  alignas(64) static constexpr double kNoOffset[kTileVoxels] = {};
  alignas(64) double log_sums[kTileVoxels];
  Tile shifted = tile;
  shifted.offset = kNoOffset;
  FreeEnergyTile(shifted, log_sums);
  for (size_t v = 0; v < log_norms_.size(); ++v) log_norms_[v] = static_cast<float>(log_sums[v]);
}

void BatchEvaluator::Scores(const ExpertBatch& batch,
                            const ExpertWeights& weights,
                            bool precise,
                            float* scores) {
  if (shape_.diagonal) return DiagonalScores(batch, weights, scores);
  AffineTile(batch.features(),
             {.high = weights.high.data(),
              .low = precise ? weights.low.data() : nullptr,
              .num_rows = shape_.num_rows(),
              .num_columns = shape_.num_features(),
              .pattern = PatternOrNull(weights.pattern)},
             batch.count(),
             shape_.gaps() ? rows_ : scores);
  if (shape_.gaps()) ScoresFromGaps(batch, rows_, scores);
}

TileProbs BatchEvaluator::Probabilities(const ExpertBatch& batch,
                                        const ExpertWeights& weights,
                                        bool precise) {
  Scores(batch, weights, precise, probs_);
  const TileProbs probs{.probs = probs_, .log_label = log_label_};
  SoftmaxScores(probs_, batch.labels(), shape_.num_classes, batch.count(), probs);
  return probs;
}

// A scale and a bias per class; the other weights are zero.
void BatchEvaluator::DiagonalScores(const ExpertBatch& batch,
                                    const ExpertWeights& weights,
                                    float* scores) const {
  const int64_t last = shape_.num_features() - 1;
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    const auto scale = static_cast<size_t>(r * shape_.num_features() + r);
    const auto bias = static_cast<size_t>(r * shape_.num_features() + last);
    const float* x = batch.features() + r * kTileVoxels;
    float* score = scores + r * kTileVoxels;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const float low = weights.low[scale] * x[v] + weights.low[bias];
      score[v] = low + weights.high[bias] + weights.high[scale] * x[v];
    }
  }
}

void BatchEvaluator::AddDiagonalGradient(const ExpertBatch& batch, double* gradient) const {
  const int64_t last = shape_.num_features() - 1;
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    for (const int64_t k : {r, last}) {
      AddOuterProduct(probs_ + r * kTileVoxels,
                      1,
                      batch.features() + k * kTileVoxels,
                      1,
                      batch.count(),
                      gradient + r * shape_.num_features() + k);
    }
  }
}

void BatchEvaluator::AddSums(const ExpertBatch& batch,
                             const ExpertWeights& weights,
                             ExpertSums* sums) {
  if (!weights.exact.empty()) return AddSumsExact(batch, weights, sums);
  Probabilities(batch, weights, true);
  AddLosses(batch, log_label_, sums);
  ResidualTile(batch.labels(), shape_.num_classes, batch.count(), probs_);
  AddGradient(batch, {}, sums->gradient.data());
}

void BatchEvaluator::AddLoss(const ExpertBatch& batch,
                             const ExpertWeights& weights,
                             ExpertSums* sums) {
  Probabilities(batch, weights, false);
  AddLosses(batch, log_label_, sums);
}

void BatchEvaluator::AddSumsExact(const ExpertBatch& batch,
                                  const ExpertWeights& weights,
                                  ExpertSums* sums) {
  const int64_t num_rows = shape_.num_rows();
  const int64_t values = (num_rows + shape_.num_classes + 1) * kTileVoxels;
  if (exact_ == nullptr) {
    exact_ = reinterpret_cast<double*>(exact_memory_.Reserve(values * int64_t{sizeof(double)}));
    std::fill_n(exact_, values, 0.0);
  }
  double* rows = exact_;
  double* scores = rows + (shape_.gaps() ? num_rows * kTileVoxels : 0);
  double* log_label = rows + values - kTileVoxels;
  AffineTileExact(batch.features(),
                  weights.exact.data(),
                  num_rows,
                  shape_.num_features(),
                  batch.count(),
                  PatternOrNull(weights.pattern),
                  rows);
  if (shape_.gaps()) ScoresFromGaps(batch, rows, scores);
  ResidualExact(batch.labels(), shape_.num_classes, batch.count(), scores, log_label);
  AddLosses(batch, log_label, sums);
  if (const float* w = batch.weights(); w != nullptr) {
    for (int64_t i = 0; i < shape_.num_classes * kTileVoxels; i += kTileVoxels) {
      for (int64_t v = 0; v < kTileVoxels; ++v) scores[i + v] *= static_cast<double>(w[v]);
    }
  }
  RowsFromScores(batch, scores);
  AddOuterProductExact(scores,
                       num_rows,
                       batch.features(),
                       shape_.num_features(),
                       batch.count(),
                       sums->gradient.data());
}

// From slopes with respect to the scores, in probs_, to those with respect to the parameters.
void BatchEvaluator::AddGradient(const ExpertBatch& batch,
                                 const SparsePattern& wanted,
                                 double* gradient) {
  if (batch.weights() != nullptr) {
    WeightRows(probs_, shape_.num_classes, batch.weights(), probs_);
  }
  RowsFromScores(batch, probs_);
  if (shape_.diagonal) return AddDiagonalGradient(batch, gradient);
  AddOuterProduct(probs_,
                  shape_.num_rows(),
                  batch.features(),
                  shape_.num_features(),
                  batch.count(),
                  gradient,
                  PatternOrNull(wanted));
}

// With u the change of the scores along the direction, slopes change by (diag q - q q^T) u
// (A7).
void BatchEvaluator::AddProduct(const ExpertBatch& batch,
                                const ExpertWeights& weights,
                                const ExpertWeights& direction,
                                const SparsePattern& wanted,
                                double* product) {
  SEGCAL_DCHECK(batch.weights() != nullptr);  // they are zero where there is no voxel
  Probabilities(batch, weights, false);
  float* change = weighted_;
  Scores(batch, direction, false, change);
  alignas(64) float mean[kTileVoxels] = {};
  const int64_t size = shape_.num_classes * kTileVoxels;
  for (int64_t i = 0; i < size; i += kTileVoxels) {
    for (int64_t v = 0; v < kTileVoxels; ++v) mean[v] += probs_[i + v] * change[i + v];
  }
  for (int64_t i = 0; i < size; i += kTileVoxels) {
    for (int64_t v = 0; v < kTileVoxels; ++v) probs_[i + v] *= change[i + v] - mean[v];
  }
  AddGradient(batch, wanted, product);
}

// Probabilities of the rows: of scores their own, of gaps those of the classes below; cumulated, of
// all positions from the row's on.
const float* BatchEvaluator::RowProbabilities() noexcept {
  float* q = probs_ + (shape_.gaps() ? kTileVoxels : 0);
  if (shape_.space != AffineSpace::kSortedGaps) return q;
  for (int64_t r = shape_.num_rows() - 1; r-- > 0;) {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      q[r * kTileVoxels + v] += q[(r + 1) * kTileVoxels + v];
    }
  }
  return q;
}

// With rows r, s and M the map from rows to scores, the weight of the block (r, s) at a voxel is
// (M^T (diag q - q q^T) M)_rs: for scores as rows q_r ([r = s] - q_s). For gaps below the winner
// the two signs cancel and it is the same in the others' probabilities; for cumulated gaps, with
// t_r = sum of q from position r on, t_max(r,s) - t_r t_s.
void BatchEvaluator::AddHessian(const ExpertBatch& batch,
                                const ExpertWeights& weights,
                                double* hessian) {
  Probabilities(batch, weights, true);
  const int64_t num_rows = shape_.num_rows();
  const int64_t num_features = shape_.num_features();
  const int64_t size = shape_.num_parameters();
  const float* q = RowProbabilities();
  const bool cumulate = shape_.space == AffineSpace::kSortedGaps;
  const float* voxel_weights = batch.weights();
  alignas(64) float weight[kTileVoxels] = {};
  for (int64_t r = 0; r < num_rows; ++r) {
    for (int64_t s = r; s < num_rows; ++s) {
      for (int64_t v = 0; v < batch.count(); ++v) {
        const float qr = q[r * kTileVoxels + v];
        const float qs = q[s * kTileVoxels + v];
        const float joint = cumulate || r == s ? qs : 0.0f;
        weight[v] = joint - qr * qs;
        if (voxel_weights != nullptr) weight[v] *= voxel_weights[v];
      }
      ZeroTies(batch, r, weight);
      ZeroTies(batch, s, weight);
      double* block = hessian + (r * size + s) * num_features;
      if (shape_.diagonal) {
        AddDiagonalBlock(batch, weight, r, s, block, size);
      } else {
        WeightRows(batch.features(), num_features, weight, weighted_);
        AddSymmetricProduct(weighted_, batch.features(), num_features, batch.count(), size, block);
      }
    }
  }
}

// A row's block adds up products of the features, with the weight q_r (1 - q_r). A feature's (A9)
// those of the cumulated t, weighted with its square; they are large where t is neither 0 nor 1.
void BatchEvaluator::WriteBlockVoxels(const ExpertBatch& batch,
                                      const ExpertWeights& weights,
                                      const BlockLanes& out) {
  Probabilities(batch, weights, false);
  const float* q = RowProbabilities();
  const BlockLayout layout(shape_);
  const float* vectors = layout.by_feature ? q : batch.features();
  for (int64_t v = 0; v < batch.count(); ++v) {
    float* to = out.vectors + v * out.stride;
    for (int64_t i = 0; i < layout.size; ++i) to[i] = vectors[i * kTileVoxels + v];
    std::fill(to + layout.size, to + out.stride, 0.0f);
    if (!layout.by_feature) continue;
    out.spread[v] = 0.0f;
    for (int64_t i = 0; i < layout.size; ++i) out.spread[v] += to[i] * (1.0f - to[i]);
  }
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    float* weight = out.weights + b * out.voxels;
    if (!layout.by_feature) {
      RowWeights(batch, q, b, weight);
      continue;
    }
    const float* x = batch.features() + b * kTileVoxels;
    for (int64_t v = 0; v < batch.count(); ++v) weight[v] = batch.weights()[v] * x[v] * x[v];
  }
}

void BatchEvaluator::AddDiagonalBlocks(const ExpertBatch& batch,
                                       const ExpertWeights& weights,
                                       double* blocks) {
  const int64_t size = shape_.num_features();
  Probabilities(batch, weights, false);
  alignas(64) float weight[kTileVoxels] = {};
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    RowWeights(batch, probs_, r, weight);
    AddDiagonalBlock(batch, weight, r, r, blocks + r * size * size, size);
  }
}

// Of a diagonal map only the scale and the bias of a row are free.
void BatchEvaluator::AddDiagonalBlock(const ExpertBatch& batch,
                                      const float* weight,
                                      int64_t r,
                                      int64_t s,
                                      double* block,
                                      int64_t stride) const {
  const int64_t last = shape_.num_features() - 1;
  for (const int64_t a : {r, last}) {
    for (const int64_t b : {s, last}) {
      double sum = 0.0;
      for (int64_t v = 0; v < batch.count(); ++v) {
        sum += static_cast<double>(weight[v] * batch.features()[a * kTileVoxels + v] *
                                   batch.features()[b * kTileVoxels + v]);
      }
      block[a * stride + b] += sum;
    }
  }
}

// A block of two rows is symmetric, and that of the same rows the other way round is the same. Of a
// diagonal map, where blocks of two rows are not symmetric, blocks are complete.
void CompleteHessian(const AffineShape& shape, double* hessian) {
  const int64_t width = shape.num_features();
  const int64_t size = shape.num_parameters();
  for (int64_t i = 0; i < size; ++i) {
    const int64_t k = i % width;
    for (int64_t j = i - k; j < size && !shape.diagonal; ++j) {
      const int64_t l = j % width;
      // Where the feature of the column is before that of the row: their exchange is known.
      if (l < k) hessian[i * size + j] = hessian[(i - k + l) * size + j - l + k];
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = i + 1; j < size; ++j) hessian[j * size + i] = hessian[i * size + j];
  }
}

BatchEvaluator& ThreadEvaluator(const AffineShape& shape) {
  static thread_local std::unique_ptr<BatchEvaluator> evaluator;
  if (!evaluator || !(evaluator->shape() == shape)) {
    evaluator = std::make_unique<BatchEvaluator>(shape);
  }
  return *evaluator;
}

}  // namespace segcal
