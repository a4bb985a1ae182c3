// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace segcal::train {

using at::Tensor;

// Logits and labels of a batch, checked, and what is derived from them.
class LossBatch {
 public:
  // logits (N, C, spatial...) with one to three spatial axes; labels (N, spatial...), class indices
  // or kNoLabel where a voxel takes no part, not even as a neighbour. `weights`, one per class or
  // none, are those of the cross-entropy (LO2). Half precision is computed in float32.
  LossBatch(const Tensor& logits, const Tensor& labels, const std::vector<double>& weights = {});

  const Tensor& logits() const noexcept { return logits_; }
  const Tensor& log_probs() const noexcept { return log_probs_; }
  Tensor probs() const { return log_probs_.exp(); }
  const Tensor& labels() const noexcept { return labels_; }  // 0 where ignored
  const Tensor& valid() const noexcept { return valid_; }    // 1 where a voxel takes part, else 0
  int64_t num_classes() const { return logits_.size(1); }
  int64_t spatial_axes() const { return logits_.dim() - 2; }

  // (N, C, spatial...), all zero where ignored.
  Tensor OneHot() const;
  // log p_y, (N, spatial...).
  Tensor LogProbOfLabel() const;

  // Mean of (N, spatial...) over the voxels that take part; 0 where there is none.
  Tensor Mean(const Tensor& values) const;
  // The same with the weights of the labels (LO2).
  Tensor WeightedMean(const Tensor& values) const;
  // Mean of -log p_y (LO1).
  Tensor CrossEntropy() const;
  // Cross-entropy to a distribution per voxel, (N, C, spatial...) (LO3).
  Tensor SoftCrossEntropy(const Tensor& targets) const;

 private:
  Tensor logits_;
  Tensor log_probs_;
  Tensor labels_;
  Tensor valid_;
  Tensor weights_;  // undefined: all are 1
};

// A vector of classes or channels as (1, C, 1...), for `axes` spatial axes.
Tensor AlongClasses(const Tensor& values, int64_t axes);

// The axes of space of a tensor (N, C, spatial...).
std::vector<int64_t> SpatialAxes(const Tensor& values);

}  // namespace segcal::train
