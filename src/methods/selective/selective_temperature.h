// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "methods/selective/selective_scaling.h"

namespace segcal {

// Expected calibration errors in ten bins of what is emitted, mean over cases (S3 Eq. 3), at one
// temperature of the flagged voxels, the others at T2.
struct SelectiveError {
  double temperature = 1.0;
  double ece = 0.0;
  double pooled_ece = 0.0;   // of the voxels of all cases together
  double correct_ece = 0.0;  // of the correctly decided voxels apart; NaN without any
  double wrong_ece = 0.0;    // of the mispredicted ones
};

// With a selector that flags this share of the mispredictions and nothing else, at the largest
// temperature (S3 Fig. 4).
struct OracleError {
  double recall = 0.0;
  double ece = 0.0;
};

struct SelectiveStudy {
  SelectiveError base;                 // as the base emits it
  std::vector<SelectiveError> errors;  // at 1, 2, 4, 8, ..., kLargestTemperature
  std::vector<OracleError> oracle;     // at 0, 0.2, ..., 1
};
SelectiveStudy StudyTemperatures(const CaseStream& stream,
                                 const Pooling& pooling,
                                 const Calibrator& base,
                                 const Selector& selector,
                                 double kept_temperature = 1.0);

// The one with the lowest error, the smallest of equals (SS9). 1: the selector is of no use.
const SelectiveError& LowestError(const SelectiveStudy& study);

// As in S3's released code (SS11): the largest if the selector's recall is above 0.5, 2 if it is
// below 0.35 or there is none; between, the one above 1 with the lowest pooled error.
const SelectiveError& ErrorByRecall(const SelectiveStudy& study, double recall);

}  // namespace segcal
