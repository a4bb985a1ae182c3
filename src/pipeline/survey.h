// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "methods/shared/calibrator.h"

namespace segcal {

// The inverse temperature that fits a sample; 1 where the sample cannot tell (no labels, no
// errors).
double TemperatureOfSample(const TileSample& sample, int num_threads);

// One pass over all voxels that gathers what every fit needs to know, and evaluates the temperature
// objective at 1 and at sample_beta on the way.
Survey SurveyData(const CaseStream& stream, const Pooling& pooling, double sample_beta);

// The same of every part's complement, in one pass: of all cases but those of part k, for k = 0 ..
// num_parts-1. part_of[c] is the part of case c.
std::vector<Survey> SurveyWithoutParts(const CaseStream& stream,
                                       const Pooling& pooling,
                                       double sample_beta,
                                       const std::vector<int64_t>& part_of,
                                       int64_t num_parts);

// The hashes of cases alone, by a pass over all voxels.
std::vector<CaseFacts> HashCases(const CaseStream& stream, const Pooling& pooling);

}  // namespace segcal
