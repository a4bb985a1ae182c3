// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "optim/adam.h"
#include "optim/plateau.h"
#include "segcal/fit_report.h"

namespace segcal {

// A loss to be minimised by minibatches. The engine knows nothing else of it.
class Trainable {
 public:
  virtual ~Trainable() = default;
  virtual int64_t num_parameters() const = 0;
  virtual int64_t steps_per_epoch() const = 0;

  // Mean loss of minibatch `step` of `epoch` (both from 0) at `parameters`, and its gradient, which
  // arrives zeroed. A function of (epoch, step, parameters) alone, the same bits for any number of
  // threads: a training that is stopped and continued must not notice.
  virtual double Step(int64_t epoch,
                      int64_t step,
                      std::span<const double> parameters,
                      std::span<double> gradient) = 0;

  // The loss by which the best epoch is kept; a function of the parameters alone.
  virtual double Validate(std::span<const double> parameters) = 0;
};

struct TrainOptions {
  AdamOptions adam;  // the learning rate here is that of the first epoch
  PlateauOptions plateau;
  int64_t max_epochs = 200;
  // Epochs without a new best validation loss after which training stops; 0: it never does.
  int64_t patience = 20;
};

// All that a training is between two epochs. Continued from here it gives the same bits as if it
// had not stopped.
struct TrainState {
  std::vector<double> parameters;
  AdamMoments moments;
  PlateauState plateau;
  std::vector<double> best_parameters;
  double best_loss = 0.0;  // validation
  int64_t best_epoch = 0;  // 0: the start
  double start_loss = 0.0;
  std::vector<TrainEpoch> history;  // one entry per finished epoch

  int64_t epochs() const noexcept { return static_cast<int64_t>(history.size()); }
};

struct TrainResult {
  TrainState state;  // its best_parameters are the answer: never worse than the start on validation
  TrainStop stopped_by = TrainStop::kMaxEpochs;
};

// After every epoch; false stops the training. A checkpoint or a line of progress is made here.
using EpochHook = std::function<bool(const TrainState&)>;

// The state before the first epoch: validates the start, which counts as epoch 0.
TrainState StartTraining(Trainable* problem,
                         std::vector<double> start,
                         const TrainOptions& options);

// Adam on minibatches until the epochs or the patience are used up: each epoch all its steps, then
// one validation, which decides on the best parameters and on the learning rate. docs/methods/
// training.md. What happens after an epoch depends on its state alone, so the same call continues a
// state that was kept.
TrainResult Train(Trainable* problem,
                  TrainState state,
                  const TrainOptions& options,
                  const EpochHook& hook = {});

}  // namespace segcal
