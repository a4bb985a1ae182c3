// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "methods/shared/calibrator.h"

namespace segcal {

// The inverse temperature that fits a sample; 1 where the sample cannot tell (no labels, no
// errors).
double TemperatureOfSample(const TileSample& sample, int num_threads);

// One pass over all voxels that gathers what every fit needs to know, and evaluates the temperature
// objective at 1 and at sample_beta on the way.
Survey SurveyData(const CaseStream& stream, const Pooling& pooling, double sample_beta);

}  // namespace segcal
