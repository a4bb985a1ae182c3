// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/case_maps.h"
#include "segcal/dataset.h"
#include "segcal/evaluate.h"
#include "segcal/inspect.h"

namespace segcal {

// A reliability diagram per pipeline.
std::string ReliabilityFigure(const EvaluateResult& result);

// A diagram per class of the last pipeline, of its probability against the rest; the first classes
// where there are very many, and an empty text where none was computed.
std::string ClassReliabilityFigure(const EvaluateResult& result);

// A diagram per region of the last pipeline: All, Boundary, bands of distance, patches, as far as
// they were computed; an empty text where none was.
std::string RegionReliabilityFigure(const EvaluateResult& result);

// A slice of one case: image, labels, uncalibrated prediction, its errors, flips, confidence and
// local error before and after, free energy. After is the last pipeline, before the first one with
// the same pooling.
std::string CaseFigure(const Dataset& dataset, const CaseMaps& maps, const EvaluateResult& result);

// The free energy of some cases, a slice of each on a scale of its own, under the spread over all.
// `maps_of` gives the maps of one of the `num_cases`; one is held at a time.
std::string FreeEnergyFigure(const Dataset& dataset,
                             const DatasetSummary& summary,
                             size_t num_cases,
                             const std::function<CaseMaps(size_t)>& maps_of);

}  // namespace segcal
