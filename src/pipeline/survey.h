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

// Of every part's complement, all cases but those of part k, for k = 0 .. num_parts-1, what a
// search over penalties asks of it: voxels, labels and decisions are counted, the rest is left out.
// part_of[c] is the part of case c. One pass.
std::vector<Survey> CountWithoutParts(const CaseStream& stream,
                                      const Pooling& pooling,
                                      const std::vector<int64_t>& part_of,
                                      int64_t num_parts);

// The hashes of cases alone, by a pass over all voxels.
std::vector<CaseFacts> HashCases(const CaseStream& stream, const Pooling& pooling);

}  // namespace segcal
