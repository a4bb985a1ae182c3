// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/options.h"
#include "methods/shared/calibrator.h"
#include "optim/trainer.h"

namespace segcal {

// Options that trained calibrators share; theirs list these among their own.
struct TrainingOptions {
  double learning_rate = 1e-3;
  double weight_decay = 0.0;
  // Epochs without a better validation loss before training stops; 0: all epochs are done.
  int64_t patience = 20;
  int64_t epochs = 200;
  int64_t epoch_voxels = 2'000'000;  // trained on in one epoch, at most

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("learning_rate", self.learning_rate, Positive());
    field("weight_decay", self.weight_decay, AtLeast(0));
    field("patience", self.patience, AtLeast(0));
    field("epochs", self.epochs, AtLeast(0));
    field("epoch_voxels", self.epoch_voxels, AtLeast(1));
  }
};

// Cases to train on and cases to choose by. Passes over them show no progress of their own.
struct TrainingCases {
  std::unique_ptr<CaseStream> training;
  std::unique_ptr<CaseStream> validation;
  std::vector<std::string> warnings;  // where the fit had to hold out cases, or could not
};

// All cases of the fit and its validation cases; where it has none, a fifth of its groups, drawn by
// seed, are held out. With a single group both are all cases.
TrainingCases SplitForTraining(const FitContext& context);

// A training to be done.
struct TrainingJob {
  std::string name;  // of the method: for the progress line and the checkpoint
  Trainable* problem = nullptr;
  std::vector<double> start;
  TrainOptions options;
};

// The engine's options from a method's; decoupled weight decay is AdamW's.
TrainOptions EngineOptions(const TrainingOptions& options, bool decoupled);

// The best parameters by validation, and how they were found. Voxels and identity_nll of the report
// are the method's to fill in, the latter as a loss of the problem that was trained.
struct TrainedFit {
  std::vector<double> parameters;
  TrainingReport report;
  SearchReport search;
};

// Trains from the start; where the context asks for a search (context.trials > 0), once per trial
// over learning rate, patience and weight decay (S0 App. B; docs/methods/training.md), the job's
// options first, and keeps the best trial. Shows a line of progress, prunes trials, and keeps its
// state in the context's checkpoint after every epoch.
TrainedFit FitByTraining(const FitContext& context, const TrainingJob& job);

}  // namespace segcal
