// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "methods/shared/calibrator.h"

namespace segcal {

// Mean negative log-likelihood of what the calibrator emits, over all labelled voxels: one pass,
// for methods whose fit does not compute it.
double AppliedLoss(const FitContext& context,
                   const Calibrator& calibrator,
                   const std::string& stage);

// The same over the labelled voxels of any cases.
double AppliedMeanLoss(const CaseStream& stream,
                       const Pooling& pooling,
                       const Calibrator& calibrator,
                       const std::string& stage = {});

}  // namespace segcal
