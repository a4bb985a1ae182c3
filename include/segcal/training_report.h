// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace segcal {

// Why a training ended.
enum class TrainStop {
  kMaxEpochs,  // all epochs done
  kPatience,   // no new best for `patience` epochs
  kHook,       // the caller said so, for example because the trial was pruned
  kNotFinite,  // a loss or gradient was not finite; the best parameters are those before
};
const char* Name(TrainStop stop) noexcept;  // "max_epochs", "patience", "hook", "not_finite"
// An unknown name is an Error that lists the known ones.
TrainStop ParseTrainStop(const std::string& name);

// One epoch as it went.
struct TrainEpoch {
  double learning_rate = 0.0;
  double training_loss = 0.0;    // mean over the epoch's minibatches, while they change
  double validation_loss = 0.0;  // at its end
};

// How a trained method came to its parameters: epochs of minibatches, the best of them by the loss
// on voxels that were not trained on.
struct TrainingReport {
  int64_t epochs = 0;      // 0: not trained
  int64_t best_epoch = 0;  // whose parameters were kept; 0: the start
  TrainStop stopped_by = TrainStop::kMaxEpochs;
  int64_t voxels = 0;  // kept in memory to train on
  int64_t validation_voxels = 0;
  // Of the validation voxels, by the loss that is trained: uncalibrated (of a selector, at the best
  // constant score), at the start, and at the parameters that were kept.
  double identity_nll = 0.0;
  double start_nll = 0.0;
  double validation_nll = 0.0;
  int64_t total_epochs = 0;         // of all trials of a search
  std::vector<TrainEpoch> history;  // of the trial that was kept
};

}  // namespace segcal
