// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/checkpoint.h"
#include "data/sample.h"
#include "data/stream.h"
#include "kernels/temperature.h"

namespace segcal {

// What is known about one case.
struct CaseFacts {
  static constexpr auto SumFields() {
    using F = CaseFacts;
    return std::tuple(&F::hash, &F::labelled, &F::constant);
  }

  uint64_t hash = 0;  // of values, decisions and labels
  int64_t labelled = 0;
  std::map<int64_t, int64_t> constant;  // members that predict the same at every voxel
};

// What is known about the data before a calibrator starts, from one pass over all voxels.
struct Survey {
  int64_t voxels = 0;    // all
  int64_t labelled = 0;  // taking part
  int64_t flat = 0;      // of the labelled, those whose logits are all equal
  int64_t repeated = 0;  // in runs of exactly equal predictions, see data/repeats.h
  std::vector<int64_t> label_counts;
  std::vector<int64_t> confusion;  // [decision][label], of the labelled voxels
  LabelMargins margins;
  TemperatureSums at_one;    // mean loss before calibration is at_one.loss / labelled
  double sample_beta = 1.0;  // temperature fitted on the sample
  TemperatureSums at_sample_beta;
  std::vector<CaseFacts> cases;
  uint64_t hash = 0;         // of all cases, in their order
  int64_t renormalised = 0;  // probability rows whose sum was off by more than 1e-3
};

struct FitContext;

// Voxels to fit on and voxels to choose options by. No training context: all the voxels of the fit.
struct SearchFold {
  const FitContext* training = nullptr;
  const CaseStream* validation = nullptr;
};

// Everything a calibrator may use to fit itself.
struct FitContext {
  const CaseStream& stream;
  const CaseStream* validation = nullptr;  // null: none
  Pooling pooling;
  const TileSample& sample;
  const Survey& survey;
  uint64_t seed = 0;
  int64_t trials = 0;                      // of a search for options; 0: none
  std::vector<SearchFold> folds;           // what the search chooses by
  std::vector<std::string> fixed_options;  // keys that the caller gave: not searched
  Checkpoint* checkpoint = nullptr;        // where a training keeps its state; null: nowhere
};

}  // namespace segcal
