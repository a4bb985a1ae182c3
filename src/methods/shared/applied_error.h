// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "methods/shared/calibrator.h"

namespace segcal {

// Expected calibration error in ten bins, mean over the cases with labelled voxels, NaN where there
// are none: of softmax(z), and of what a calibrator makes of it. One pass.
struct AppliedError {
  double before = 0.0;
  double after = 0.0;
};
AppliedError MeasureAppliedError(const CaseStream& stream,
                                 const Pooling& pooling,
                                 const Calibrator& calibrator,
                                 const std::string& stage);

}  // namespace segcal
