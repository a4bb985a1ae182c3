// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/evaluate.h"
#include "segcal/export.h"
#include "segcal/inspect.h"
#include "segcal/model.h"
#include "segcal/run_options.h"

namespace segcal {

// A picture and what a file of it is called.
struct Figure {
  std::string name;  // "reliability.svg"
  std::string svg;
};

// A reliability diagram per pipeline; an empty text where none was computed.
SEGCAL_EXPORT std::string ReliabilityFigure(const EvaluateResult& result);

// A diagram per class of the last pipeline, of its probability against the rest; the first classes
// where there are very many, and an empty text where none was computed.
SEGCAL_EXPORT std::string ClassReliabilityFigure(const EvaluateResult& result);

// A diagram per region of the last pipeline: All, Boundary, bands of distance, patches, as far as
// they were computed; an empty text where none was.
SEGCAL_EXPORT std::string RegionReliabilityFigure(const EvaluateResult& result);

struct CaseFigureOptions {
  RunOptions run;
  std::string case_id;  // empty: the first case that was evaluated
};

// A slice of one case: image, labels, uncalibrated prediction, its errors, flips, confidence and
// local error before and after, free energy. After is the last pipeline, before the first one with
// the same pooling. `models` are those that gave the result, and are applied to the case again.
SEGCAL_EXPORT std::string CaseFigure(const Dataset& dataset,
                                     const std::vector<Model>& models,
                                     const EvaluateResult& result,
                                     const CaseFigureOptions& options = {});

// All of the above that the result has the numbers for, under the names that `segcal evaluate`
// gives them.
SEGCAL_EXPORT std::vector<Figure> EvaluationFigures(const Dataset& dataset,
                                                    const std::vector<Model>& models,
                                                    const EvaluateResult& result,
                                                    const CaseFigureOptions& options = {});

struct FreeEnergyFigureOptions {
  RunOptions run;
  std::vector<std::string> case_ids;  // empty: the first ones, as many as fill a page
};

// The free energy of some cases, a slice of each on a scale of its own, under the spread over all.
// The predictions of these cases are read again, one case at a time.
SEGCAL_EXPORT std::string FreeEnergyFigure(const Dataset& dataset,
                                           const DatasetSummary& summary,
                                           const FreeEnergyFigureOptions& options = {});

}  // namespace segcal
