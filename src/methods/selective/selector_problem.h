// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "methods/selective/selector_network.h"
#include "methods/selective/selector_sample.h"
#include "optim/trainer.h"

namespace segcal {

// Statistics of the hidden channels over the sample's voxels, at most 2^18 of them spread evenly,
// layer after layer, each with those before it normalised by theirs (SS5).
SelectorStatistics PopulationStatistics(const SelectorShape& shape,
                                        std::span<const double> parameters,
                                        const SelectorSample& sample,
                                        int threads);

// Weighted mean cross-entropy (SS6) of the selector over a sample.
double SelectorLoss(const Selector& selector,
                    const SelectorSample& sample,
                    double wrong_weight,
                    int threads);

// The same where the scores are alike at every voxel, at best: the entropy of the weighted share of
// mispredictions.
double ConstantScoreLoss(const SelectorSample& sample, double wrong_weight);

// Training of the selector: minibatches of tiles in an order drawn for every epoch; validation with
// the statistics of the training sample. Gradients (SS7) are of the loss with the minibatch's own
// statistics.
class SelectorProblem final : public Trainable {
 public:
  struct Options {
    int64_t batch_voxels = 4096;
    double wrong_weight = 2.0;
    uint64_t seed = 0;
    int threads = 1;
  };
  // The samples outlive it.
  SelectorProblem(const SelectorSample& training,
                  const SelectorSample& validation,
                  const Options& options);

  int64_t num_parameters() const override { return shape_.size(); }
  int64_t steps_per_epoch() const override { return steps_; }
  double Step(int64_t epoch,
              int64_t step,
              std::span<const double> parameters,
              std::span<double> gradient) override;
  double Validate(std::span<const double> parameters) override;

  // Loss and gradient of these tiles of the training sample as one minibatch.
  double Evaluate(std::span<const int64_t> tiles,
                  std::span<const double> parameters,
                  std::span<double> gradient);

 private:
  // What one tile of a minibatch keeps between the passes over it.
  struct Work {
    AlignedBuffer memory;
    std::array<float*, kHiddenLayers> dense;   // before normalisation
    std::array<float*, kHiddenLayers> active;  // after the rectifier
    std::array<float*, kHiddenLayers> delta;   // gradient by `active`, then by `dense`
    float* scores = nullptr;                   // [2], then the gradient by them
    std::vector<double> sums;                  // of the channels of one layer
    std::vector<double> gradient;              // by the weights of one layer
    double loss = 0.0;
  };

  void PlanEpoch(int64_t epoch);
  void Reserve(size_t num_tiles);
  void Normalise(int layer, std::span<const double> parameters, size_t num_tiles);
  double Loss(std::span<const int64_t> tiles, std::span<const double> parameters);
  void ScoreTile(int64_t tile, double total_weight, const double* bias, Work* work) const;
  std::vector<float> ThroughNormalisation(int layer,
                                          size_t num_tiles,
                                          std::span<const double> parameters,
                                          std::span<double> gradient) const;
  void LayerBack(int layer,
                 std::span<const int64_t> tiles,
                 std::span<const double> parameters,
                 std::span<double> gradient);
  const float* Input(int layer, int64_t tile, const Work& work) const;
  void AddGradients(int layer, size_t num_tiles, std::span<double> gradient) const;
  std::vector<double> TotalSums(size_t num_tiles) const;

  SelectorShape shape_;
  const SelectorSample& training_;
  const SelectorSample& validation_;
  Options options_;
  int64_t steps_;
  int64_t planned_epoch_ = -1;
  std::vector<int64_t> order_;
  std::vector<Work> work_;
  SelectorStatistics batch_;
  std::array<ChannelScale, kHiddenLayers> scales_;
};

}  // namespace segcal
