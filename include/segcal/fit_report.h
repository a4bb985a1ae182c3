// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "segcal/export.h"

namespace segcal {

// How a fit ended. Not converging is a result, not an error.
enum class FitStatus {
  kConverged,     // the certificates prove the optimum
  kAtBound,       // the optimum lies at the edge of what is allowed
  kUnbounded,     // the infimum lies at infinity; the parameters stand where the solver stopped
  kNotConverged,  // the certificates say how far it came
  kNothingToFit,  // no parameters, or data that say nothing about them
  kTrained,       // the best epoch of a training
};
SEGCAL_EXPORT const char* Name(
    FitStatus status) noexcept;  // "converged", "at_bound", "unbounded", ...
// An unknown name is an Error that lists the known ones.
SEGCAL_EXPORT FitStatus ParseFitStatus(const std::string& name);

// Proof of optimality of one expert (global methods have one): the projected gradient of its own
// mean objective, and the Newton decrement |g| / sqrt(h).
struct Certificate {
  double gradient = 0.0;
  double newton_decrement = 0.0;
  bool bounded = true;  // false: the infimum lies at infinity, the parameters are where we stopped
  int64_t voxels = 0;   // labelled voxels of this expert
  // How far the objective can be above its minimum at most; absent where nothing bounds it.
  std::optional<double> gap;
  std::vector<double> path;  // the objective after each pass over the data
};

// Which cases options are chosen by.
enum class Selection {
  kValidation,  // those of the validation split, which are not fitted on
  kFolds,       // all that there are, by groups in turn; the model is then fitted on all of them
};
SEGCAL_EXPORT const char* Name(Selection selection) noexcept;  // "validation", "folds"
// An unknown name is an Error that lists the known ones.
SEGCAL_EXPORT Selection ParseSelection(const std::string& name);

// One setting of the options that a search tried, and the mean loss on the voxels it chooses by.
struct SearchTrial {
  std::map<std::string, std::string> options;
  double validation_nll = 0.0;
  int64_t epochs = 0;   // of a training; 0: the method is not trained
  bool pruned = false;  // stopped before its end, because others were better by then
};

struct SearchReport {
  std::vector<SearchTrial> trials;  // in the order they were tried; empty: no search
  std::map<std::string, std::string> chosen;
  int64_t passes = 0;  // over the voxels fitted on
  Selection select = Selection::kValidation;
};

// Why a training ended.
enum class TrainStop {
  kMaxEpochs,  // all epochs done
  kPatience,   // no new best for `patience` epochs
  kHook,       // the caller said so, for example because the trial was pruned
  kNotFinite,  // a loss or gradient was not finite; the best parameters are those before
};
SEGCAL_EXPORT const char* Name(
    TrainStop stop) noexcept;  // "max_epochs", "patience", "hook", "not_finite"
// An unknown name is an Error that lists the known ones.
SEGCAL_EXPORT TrainStop ParseTrainStop(const std::string& name);

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

// What fitting a calibrator found out.
struct FitOutcome {
  std::string solver;
  FitStatus status = FitStatus::kNothingToFit;
  int64_t passes = 0;  // over all voxels, the survey included, a search not
  double nll_after = 0.0;
  std::vector<Certificate> certificates;
  std::vector<std::string> warnings;
  SearchReport search;
  TrainingReport training;
  std::map<std::string, double> figures;  // what the method measured of itself, by name
};

// What a model was fitted on.
struct FittedData {
  std::string name;
  int64_t cases = 0;  // 0: the model was not fitted
  int64_t voxels = 0;
  int64_t labelled = 0;
  uint64_t hash = 0;    // of the pooled values, decisions and labels
  int64_t members = 0;  // of the ensemble; 0: not known, as in models of version 0.1
  // The same hash of every case that took part, those fitted on and then those chosen by. Empty
  // where they are not known.
  std::vector<uint64_t> case_hashes = {};
};

// Where a model comes from: the outcome of its fit, and the data.
struct FitReport : FitOutcome {
  FittedData data;
  // Of everything that determines the model: data, pipeline, options, seed and version. 0: unknown.
  uint64_t identity = 0;
  double nll_before = 0.0;  // mean negative log-likelihood before calibration
};

// The object "fit" of a model file with a format version, and back; `where` names the text in
// messages.
SEGCAL_EXPORT std::string ToJson(const FitReport& report);
SEGCAL_EXPORT FitReport FitReportFromJson(const std::string& text,
                                          const std::string& where = "fit report");

}  // namespace segcal
