// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_evaluator.h"

#include <algorithm>

#include "core/check.h"
#include "kernels/softmax.h"
#include "methods/affine/affine_gaps.h"
#include "methods/affine/affine_objective.h"

namespace segcal {
namespace {

// Rows of a block of the Hessian computed together; the kernel takes three at a time.
constexpr int64_t kStrip = 3;

// A pattern is worth its indirection where it has at most one of so many entries.
constexpr int64_t kDensestPattern = 2;

// What a voxel's features count in the block of one row, of probabilities q: q_r (1 - q_r).
void RowWeights(const ExpertBatch& batch, const float* q, int64_t r, float* weight) {
  for (int64_t v = 0; v < batch.count(); ++v) {
    const float p = q[r * kTileVoxels + v];
    weight[v] = (batch.weights() == nullptr ? 1.0f : batch.weights()[v]) * p * (1.0f - p);
  }
  ZeroTies(batch, r, weight);
}

// An empty pattern leaves out nothing.
const SparsePattern* PatternOrNull(const SparsePattern& pattern) {
  return pattern.begin.empty() ? nullptr : &pattern;
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

ExpertWeights::ExpertWeights(const AffineShape& shape, const std::vector<double>& parameters) {
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
  block_.resize(static_cast<size_t>(kStrip * shape.num_features()));
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
  Probabilities(batch, weights, true);
  const float* voxel_weights = batch.weights();
  double loss = 0.0;
  double count = 0.0;
  for (int64_t v = 0; v < batch.count(); ++v) {
    const double w = voxel_weights == nullptr ? 1.0 : static_cast<double>(voxel_weights[v]);
    loss -= w * static_cast<double>(log_label_[v]);
    count += w;
  }
  sums->count += count;
  sums->loss += loss;
  ResidualTile(batch.labels(), shape_.num_classes, batch.count(), probs_);
  AddGradient(batch, {}, sums->gradient.data());
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
      double* const blocks[] = {hessian + (r * size + s) * num_features,
                                hessian + (s * size + r) * num_features};
      if (shape_.diagonal) {
        AddDiagonalBlock(batch, weight, r, s, blocks[0], size);
        if (r != s) AddDiagonalBlock(batch, weight, s, r, blocks[1], size);
        continue;
      }
      WeightRows(batch.features(), num_features, weight, weighted_);
      AddSymmetric(batch.features(),
                   num_features,
                   batch.count(),
                   {blocks, r == s ? size_t{1} : size_t{2}},
                   size);
    }
  }
}

// Sums of products of rows with weighted_, the same rows weighted, are symmetric: a strip of rows
// at a time, from the diagonal on. They are added to every block, whose rows are `stride` apart.
void BatchEvaluator::AddSymmetric(const float* rows,
                                  int64_t num_rows,
                                  int64_t count,
                                  std::span<double* const> blocks,
                                  int64_t stride) {
  for (int64_t first = 0; first < num_rows; first += kStrip) {
    const int64_t strip = std::min(kStrip, num_rows - first);
    const int64_t width = num_rows - first;
    std::fill(block_.begin(), block_.end(), 0.0);
    AddOuterProduct(weighted_ + first * kTileVoxels,
                    strip,
                    rows + first * kTileVoxels,
                    width,
                    count,
                    block_.data());
    for (int64_t a = first; a < first + strip; ++a) {
      for (int64_t b = a; b < num_rows; ++b) {
        const double value = block_[static_cast<size_t>((a - first) * width + b - first)];
        for (double* block : blocks) {
          block[a * stride + b] += value;
          if (a != b) block[b * stride + a] += value;
        }
      }
    }
  }
}

void BatchEvaluator::AddBlocks(const ExpertBatch& batch,
                               const ExpertWeights& weights,
                               int64_t first,
                               int64_t end,
                               double* blocks) {
  Probabilities(batch, weights, false);
  const float* q = RowProbabilities();
  const BlockLayout layout(shape_);
  for (int64_t b = first; b < end; ++b) {
    double* block = blocks + b * layout.size * layout.size;
    if (layout.by_feature) {
      AddFeatureBlock(batch, q, b, block);
    } else {
      AddRowBlock(batch, q, b, block);
    }
  }
}

void BatchEvaluator::AddRowBlock(const ExpertBatch& batch,
                                 const float* q,
                                 int64_t r,
                                 double* block) {
  const int64_t num_features = shape_.num_features();
  alignas(64) float weight[kTileVoxels] = {};
  RowWeights(batch, q, r, weight);
  if (shape_.diagonal) return AddDiagonalBlock(batch, weight, r, r, block, num_features);
  WeightRows(batch.features(), num_features, weight, weighted_);
  AddSymmetric(batch.features(), num_features, batch.count(), {&block, 1}, num_features);
}

// (A9): the weights t_max(r,s) - t_r t_s of AddHessian times the square of the feature. t_r t_s
// first, with the sign turned, then what t_s alone adds up to.
void BatchEvaluator::AddFeatureBlock(const ExpertBatch& batch,
                                     const float* t,
                                     int64_t k,
                                     double* block) {
  const int64_t num_rows = shape_.num_rows();
  const float* x = batch.features() + k * kTileVoxels;
  alignas(64) float weight[kTileVoxels] = {};
  for (int64_t v = 0; v < batch.count(); ++v) weight[v] = -batch.weights()[v] * x[v] * x[v];
  WeightRows(t, num_rows, weight, weighted_);
  AddSymmetric(t, num_rows, batch.count(), {&block, 1}, num_rows);
  const float* ones = batch.features() + (shape_.num_features() - 1) * kTileVoxels;
  std::fill(block_.begin(), block_.end(), 0.0);
  AddOuterProduct(weighted_, num_rows, ones, 1, batch.count(), block_.data());
  for (int64_t s = 0; s < num_rows; ++s) {
    for (int64_t r = 0; r < num_rows; ++r) {
      block[r * num_rows + s] -= block_[static_cast<size_t>(std::max(r, s))];
    }
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

BatchEvaluator& ThreadEvaluator(const AffineShape& shape) {
  static thread_local std::unique_ptr<BatchEvaluator> evaluator;
  if (!evaluator || !(evaluator->shape() == shape)) {
    evaluator = std::make_unique<BatchEvaluator>(shape);
  }
  return *evaluator;
}

}  // namespace segcal
