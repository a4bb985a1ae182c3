// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "methods/tree/tree_patches.h"
#include "optim/trainer.h"

namespace segcal {

// Patches to train on and patches to judge by, [case][patch].
struct TreeData {
  std::vector<std::vector<TreePatch>> training;
  std::vector<std::vector<TreePatch>> validation;  // empty: judged by the training patches
};

struct TreeTrainingOptions {
  TreeShape shape;
  bool whole_case = false;  // one temperature per case, the mean of its voxels' (IT1)
  int64_t voxels = 0;       // of an epoch, about
  int64_t batch = 8;        // patches of a minibatch; of whole cases it has one
  uint64_t seed = 0;
  int threads = 1;
};

// The loss of a tree by minibatches of patches, drawn anew in every epoch without repetition.
//
// Parameters are weights in units that make Adam's steps alike for all data: a weight w stands for
// w / (r sqrt(25 C)) on the input, r being the root mean square of its plane.
class TreeTraining final : public Trainable {
 public:
  TreeTraining(const TreeData& data, const TreeTrainingOptions& options);

  int64_t num_parameters() const override { return options_.shape.num_parameters(); }
  int64_t steps_per_epoch() const override { return (units_per_epoch_ + batch_ - 1) / batch_; }
  double Step(int64_t epoch,
              int64_t step,
              std::span<const double> parameters,
              std::span<double> gradient) override;
  double Validate(std::span<const double> parameters) override;

  // The loss of the validation patches without calibration.
  double IdentityLoss() const;
  // From the units of training to weights on the input, and back.
  std::vector<double> Weights(std::span<const double> parameters) const;
  std::vector<double> Parameters(std::span<const double> weights) const;

  int64_t voxels() const noexcept { return training_voxels_; }  // in memory to train on
  int64_t validation_voxels() const noexcept { return validation_voxels_; }
  // Of one epoch, about: only patches with labels (whole cases: cases with labels) are trained on.
  int64_t epoch_voxels() const noexcept;

 private:
  using Unit = std::vector<const TreePatch*>;  // a patch, or the patches of a case
  struct Sums {
    TreeLoss loss;
    std::vector<double> gradient;  // packed
  };

  TreeWeights Packed(std::span<const double> parameters) const;
  const std::vector<int64_t>& EpochOrder(int64_t epoch);
  Sums LocalStep(const TreeWeights& weights, const Unit& patches) const;
  Sums WholeStep(const TreeWeights& weights, const Unit& patches) const;
  double MeanTemperature(const TreeWeights& weights, const Unit& patches) const;
  TreeLoss Loss(const TreeWeights& weights, const Unit& patches) const;
  // At one temperature for all their voxels.
  TreeLoss LossAt(float temperature, const Unit& patches) const;

  TreeTrainingOptions options_;
  std::vector<Unit> training_;
  std::vector<Unit> validation_;
  std::vector<double> scale_;  // by parameter: what a weight is divided by
  int64_t batch_ = 1;
  int64_t units_per_epoch_ = 0;
  int64_t training_voxels_ = 0;
  int64_t unit_voxels_ = 0;  // of training_
  int64_t validation_voxels_ = 0;
  int64_t ordered_epoch_ = -1;  // of order_
  std::vector<int64_t> order_;
};

}  // namespace segcal
