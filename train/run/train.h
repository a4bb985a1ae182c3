// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "segcal/corrupt.h"
#include "segcal/dataset.h"
#include "segcal/progress.h"
#include "train/run/member.h"
#include "train/run/predictor.h"
#include "train/run/settings.h"

namespace segcal::train {

struct TrainOptions {
  TrainSettings settings;
  bool resume = false;  // go on with what is in the folder
  int threads = 0;      // 0: all
  int64_t memory = 0;   // bytes that a training step may take; 0: what the machine has
  ProgressCallback progress;
};

struct NetworkResult {
  NetworkKey key;
  std::vector<EpochResult> history;
  int64_t best_epoch = 0;  // from 0
};

struct TrainResult {
  int64_t num_weights = 0;
  std::vector<NetworkResult> networks;
};

// Trains the members of an ensemble, one after the other, into `folder`: training.json, member<m>/
// or member<m>/fold<f>/ with the networks, loss.svg and dice.svg. All that can be wrong with data
// and options is found before the first epoch.
TrainResult Train(const Dataset& dataset, const std::string& folder, const TrainOptions& options);

struct PredictOptions {
  PredictorOptions predictor;
  std::string split;  // only the cases of this split; empty: all
  // Of a run with folds: every case by the networks that have not learned from it. Cases of the
  // folds are calibration cases then.
  bool out_of_fold = false;
  std::optional<CorruptOptions> corrupt = {};
  bool half = false;  // float16 in place of float32
  int threads = 0;
  ProgressCallback progress;
};

struct PredictResult {
  int64_t cases = 0;
  int64_t members = 0;   // predictions per case
  int64_t held_out = 0;  // cases of folds, each by networks that left it out
  int64_t learned = 0;   // cases that networks which predict them have learned from
};

// Logits of every member for every case to `folder`, which must be new or empty: logits/m<k>/ and
// dataset.json, which any other command reads. Of corrupted images, it names none.
PredictResult Predict(const std::string& run,
                      const Dataset& dataset,
                      const std::string& folder,
                      const PredictOptions& options);

}  // namespace segcal::train
