// SPDX-License-Identifier: Apache-2.0
#include "train/losses/batch.h"

#include "core/throw.h"
#include "kernels/tile.h"

namespace segcal::train {
namespace {

void CheckShapes(const Tensor& logits, const Tensor& labels) {
  if (logits.dim() < 3 || logits.dim() > 5) {
    Throw(ErrorCode::kInvalidArgument,
          "logits of shape ({}); (N, C, spatial...) with one to three spatial axes is required",
          fmt::join(logits.sizes(), ", "));
  }
  std::vector<int64_t> wanted = logits.sizes().vec();
  wanted.erase(wanted.begin() + 1);
  if (labels.sizes() == at::IntArrayRef(wanted)) return;
  Throw(ErrorCode::kInvalidArgument,
        "labels of shape ({}); ({}) is required for logits of shape ({})",
        fmt::join(labels.sizes(), ", "),
        fmt::join(wanted, ", "),
        fmt::join(logits.sizes(), ", "));
}

void CheckLabels(const Tensor& labels, int64_t num_classes) {
  if (labels.numel() == 0) return;
  const auto least = labels.min().item<int64_t>();
  const auto most = labels.max().item<int64_t>();
  if (least >= 0 && most < num_classes) return;
  Throw(ErrorCode::kBadData,
        "label {}; labels from 0 to {} are required, or {} for none",
        least < 0 ? least : most,
        num_classes - 1,
        kNoLabel);
}

Tensor MakeWeights(const std::vector<double>& weights, int64_t num_classes, at::ScalarType type) {
  if (weights.empty()) return {};
  if (std::ssize(weights) != num_classes) {
    Throw(ErrorCode::kInvalidArgument,
          "class weights: {} numbers for {} classes",
          weights.size(),
          num_classes);
  }
  for (const double weight : weights) {
    if (!(weight >= 0.0))
      Throw(ErrorCode::kInvalidArgument, "class weight {}; at least 0 is required", weight);
  }
  return torch::tensor(weights, at::kDouble).to(type);
}

Tensor OneWhereZero(const Tensor& total) {
  return at::where(total > 0, total, at::ones_like(total));
}

}  // namespace

LossBatch::LossBatch(const Tensor& logits,
                     const Tensor& labels,
                     const std::vector<double>& weights) {
  CheckShapes(logits, labels);
  const bool is_full = logits.scalar_type() == at::kFloat || logits.scalar_type() == at::kDouble;
  logits_ = is_full ? logits : logits.to(at::kFloat);
  log_probs_ = at::log_softmax(logits_, 1);
  const Tensor takes_part = labels != kNoLabel;
  labels_ = at::where(takes_part, labels, at::zeros_like(labels)).to(at::kLong);
  CheckLabels(labels_, num_classes());
  valid_ = takes_part.to(logits_.scalar_type());
  weights_ = MakeWeights(weights, num_classes(), logits_.scalar_type());
}

Tensor LossBatch::OneHot() const {
  const Tensor classes = AlongClasses(at::arange(num_classes(), labels_.options()), spatial_axes());
  return (labels_.unsqueeze(1) == classes).to(logits_.scalar_type()) * valid_.unsqueeze(1);
}

Tensor LossBatch::LogProbOfLabel() const {
  return log_probs_.gather(1, labels_.unsqueeze(1)).squeeze(1);
}

Tensor LossBatch::Mean(const Tensor& values) const {
  return (values * valid_).sum() / valid_.sum().clamp_min(1.0);
}

Tensor LossBatch::WeightedMean(const Tensor& values) const {
  if (!weights_.defined()) return Mean(values);
  const Tensor weights = weights_.index_select(0, labels_.flatten()).view_as(labels_) * valid_;
  return (values * weights).sum() / OneWhereZero(weights.sum());
}

Tensor LossBatch::CrossEntropy() const { return WeightedMean(-LogProbOfLabel()); }

Tensor LossBatch::SoftCrossEntropy(const Tensor& targets) const {
  Tensor terms = targets * log_probs_;
  if (!weights_.defined()) return Mean(-terms.sum(1));
  const Tensor weights = weights_.index_select(0, labels_.flatten()).view_as(labels_) * valid_;
  terms = terms * AlongClasses(weights_, spatial_axes()) * valid_.unsqueeze(1);
  return -terms.sum() / OneWhereZero(weights.sum());
}

Tensor AlongClasses(const Tensor& values, int64_t axes) {
  std::vector<int64_t> shape(static_cast<size_t>(axes) + 2, 1);
  shape[1] = -1;
  return values.view(shape);
}

std::vector<int64_t> SpatialAxes(const Tensor& values) {
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < values.dim(); ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace segcal::train
