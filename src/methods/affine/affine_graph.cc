// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/affine/affine_features.h"
#include "methods/shared/graph.h"

namespace segcal {
namespace {

// Weights and biases of rows, [rows][columns] and [rows].
struct GraphWeights {
  std::vector<float> weights;
  std::vector<float> bias;
};

// As the kernels read them: the bias is the last feature of a row.
GraphWeights RowWeights(const AffineShape& shape, const std::vector<float>& packed) {
  GraphWeights result;
  const auto features = static_cast<size_t>(shape.num_features());
  for (size_t at = 0; at < packed.size(); at += features) {
    const auto row = packed.begin() + static_cast<ptrdiff_t>(at);
    const auto bias = row + static_cast<ptrdiff_t>(features - 1);
    result.weights.insert(result.weights.end(), row, bias);
    result.bias.push_back(*bias);
  }
  return result;
}

// Gaps below the winner i are d = -u without u_i = 0, and scores are -(A d + beta), 0 for i: in the
// order of the classes W u + b, with a row and a column of zeros for i, and b = -beta (A2).
GraphWeights WinnerWeights(const AffineShape& shape,
                           const std::vector<float>& packed,
                           int64_t winner) {
  const GraphWeights gaps = RowWeights(shape, packed);
  const auto n = static_cast<size_t>(shape.num_classes);
  const auto class_at = [&](size_t row) {
    return static_cast<size_t>(ClassAt(shape, winner, static_cast<int64_t>(row + 1)));
  };
  GraphWeights result{.weights = std::vector<float>(n * n), .bias = std::vector<float>(n)};
  for (size_t r = 0; r + 1 < n; ++r) {
    for (size_t k = 0; k + 1 < n; ++k)
      result.weights[class_at(r) * n + class_at(k)] = gaps.weights[r * (n - 1) + k];
    result.bias[class_at(r)] = -gaps.bias[r];
  }
  return result;
}

// x of a space whose rows are scores, or for gaps below the winner u.
std::string AddFeatures(const AffineShape& shape, const GraphInput& in, OnnxBuilder* g) {
  switch (shape.space) {
    case AffineSpace::kRaw: {
      const std::string from = g->Op("Sub", {in.offset, g->Scalar(shape.centre)});
      return g->Op(
          "Clip",
          {g->Op("Add", {in.logits, from}), g->Scalar(-kMaxFeature), g->Scalar(kMaxFeature)});
    }
    case AffineSpace::kDifferences: {
      const int64_t last = shape.num_classes - 1;
      const std::string before = g->Channels(in.logits, 0, last);
      return g->Op("Sub", {before, g->Channels(in.logits, last, last + 1)});
    }
    case AffineSpace::kLogProbs:
      return g->LogSoftmax(in.logits);
    case AffineSpace::kWinnerGaps:
    case AffineSpace::kSortedGaps:
      break;
  }
  return in.logits;
}

// The rows of the expert of every voxel, in the place of its features: each expert is applied to
// all voxels, and what it makes of those of others is dropped. One after the other, because a
// runtime that sees that they do not depend on each other keeps the rows of all experts in memory.
std::string AddExperts(const AffineShape& shape,
                       const std::vector<ExpertWeights>& experts,
                       const std::string& x,
                       const std::string& decision,
                       OnnxBuilder* g) {
  std::string rows = x;
  for (size_t e = 0; e < experts.size(); ++e) {
    const auto expert = static_cast<int64_t>(e);
    const GraphWeights weights = shape.space == AffineSpace::kWinnerGaps
                                     ? WinnerWeights(shape, experts[e].high, expert)
                                     : RowWeights(shape, experts[e].high);
    std::string own =
        g->Affine(rows, static_cast<int64_t>(weights.bias.size()), weights.weights, weights.bias);
    if (!shape.per_decision) return own;
    rows = g->Op("Where", {g->Op("Equal", {decision, g->Integer(expert)}), own, rows});
  }
  return rows;
}

std::string AddDiagonal(const AffineShape& shape,
                        const std::vector<float>& packed,
                        const std::string& x,
                        OnnxBuilder* g) {
  const GraphWeights full = RowWeights(shape, packed);
  std::vector<float> scale;
  const size_t n = full.bias.size();
  for (size_t c = 0; c < n; ++c) scale.push_back(full.weights[c * n + c]);
  return g->Op("Add", {g->Op("Mul", {x, g->PerChannel(scale)}), g->PerChannel(full.bias)});
}

// Scores of sorted classes: minus the cumulated gaps, where gaps of equal logits do not count (A3);
// then each goes back to the class it belongs to.
std::string AddSorted(const AffineShape& shape,
                      const std::vector<ExpertWeights>& experts,
                      const GraphInput& in,
                      OnnxBuilder* g) {
  const int64_t n = shape.num_classes;
  const std::vector<std::string> sorted =
      g->Ops("TopK", 2, {in.logits, g->Integers({n})}, {{"axis", int64_t{1}}});
  const std::string gaps =
      g->Op("Sub", {g->Channels(sorted[0], 0, n - 1), g->Channels(sorted[0], 1, n)});
  const std::string rows = AddExperts(shape, experts, gaps, in.decision, g);
  const std::string zero = g->Scalar(0.0);
  const std::string counted = g->Op("Where", {g->Op("Equal", {gaps, zero}), zero, rows});
  const std::string below = g->Op("Neg", {g->Op("CumSum", {counted, g->Integer(1)})});
  // The largest shifted logit is 0, and so is its score.
  const std::string scores =
      g->Op("Concat", {g->Channels(sorted[0], 0, 1), below}, {{"axis", int64_t{1}}});
  return g->Op("ScatterElements", {in.logits, sorted[1], scores}, {{"axis", int64_t{1}}});
}

}  // namespace

std::string AffineCalibrator::AddToGraph(const GraphInput& in, OnnxBuilder* g) const {
  if (shape_.num_classes < 2) return g->Softmax(in.logits);
  if (shape_.space == AffineSpace::kSortedGaps)
    return g->Softmax(AddSorted(shape_, weights_, in, g));
  const std::string x = AddFeatures(shape_, in, g);
  if (shape_.diagonal) return g->Softmax(AddDiagonal(shape_, weights_[0].high, x, g));
  return g->Softmax(AddExperts(shape_, weights_, x, in.decision, g));
}

}  // namespace segcal
