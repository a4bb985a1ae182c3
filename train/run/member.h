// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/losses/loss.h"
#include "train/net/adam.h"
#include "train/run/networks.h"
#include "train/run/settings.h"

namespace segcal::train {

// What one epoch gave.
struct EpochResult {
  double loss = 0.0;  // mean over the training batches
  double nll = 0.0;   // of the validation voxels
  double dice = 0.0;  // of the validation images, mean over classes but the background
};

// How well a network predicts images with labels.
struct Score {
  double nll = 0.0;
  double dice = 0.0;
};
Score Validate(const UNet& net,
               const UNetState& state,
               const std::vector<ImageCase>& cases,
               int64_t background);

// The training of one network. Everything random follows from the seed, the network, the epoch and
// the place in it, so that a run that goes on after a kill draws what it would have drawn.
class MemberTraining {
 public:
  MemberTraining(const TrainSettings& settings,
                 const TrainData& data,
                 const std::string& folder,
                 const NetworkKey& key);

  // Goes on from the last complete epoch, if there is one.
  void Resume();
  // The remaining epochs; after each, the state is on disk.
  void Run();
  const std::vector<EpochResult>& history() const noexcept { return history_; }
  int64_t epochs_done() const noexcept { return std::ssize(history_); }
  int64_t best_epoch() const;  // from 0; -1: none yet

 private:
  // A plane of a volume, an image, or a volume.
  struct Unit {
    const ImageCase* image = nullptr;
    int64_t plane = 0;
  };
  struct Batch {
    Tensor images;
    Tensor labels;
  };

  Rng Stream(uint64_t use, uint64_t number) const;
  int64_t StepsPerEpoch() const;
  Batch MakeBatch(const std::vector<int64_t>& order, int64_t step) const;
  double TrainEpoch();
  double TrainStep(const Batch& batch, double rate, int64_t step);
  // Ends a training whose numbers are none any more.
  [[noreturn]] void Stop(const std::string& what) const;
  void Report(int64_t step) const;
  void Save(bool is_best) const;
  std::vector<Tensor> Vectors() const;

  const TrainSettings& settings_;
  const TrainData& data_;
  std::string folder_;
  NetworkKey key_;
  UNet net_;
  std::unique_ptr<Loss> loss_;
  std::vector<Unit> units_;
  UNetState state_;
  Adam adam_;
  std::vector<EpochResult> history_;
};

}  // namespace segcal::train
