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
#include "segcal/statistics.h"
#include "segcal/tables.h"

namespace segcal {

// A picture and what a file of it is called.
struct Figure {
  std::string name;  // "reliability.svg"
  std::string svg;
};

// The models, and before the first of every pooling the uncalibrated prediction of that pooling,
// where it is not among them: what figures show as "before". To be evaluated, and drawn from.
SEGCAL_EXPORT std::vector<Model> WithBaselines(const Dataset& dataset,
                                               const std::vector<Model>& models);

// A reliability diagram per pipeline; an empty text where none was computed.
SEGCAL_EXPORT std::string ReliabilityFigure(const EvaluateResult& result);

// A diagram per class of the last pipeline, of its probability against the rest, with a line for
// how it was before calibration; the first classes where there are very many, and an empty text
// where none was computed.
SEGCAL_EXPORT std::string ClassReliabilityFigure(const EvaluateResult& result);

// The same per region: All, Boundary, bands of distance, patches, as far as they were computed; an
// empty text where none was.
SEGCAL_EXPORT std::string RegionReliabilityFigure(const EvaluateResult& result);

// The error rate of the most confident share of the voxels, a curve per pipeline, between that of
// an oracle and of chance; an empty text where none was computed.
SEGCAL_EXPORT std::string RiskCoverageFigure(const EvaluateResult& result);

// How the labels of each class are predicted, in percent of its voxels: by the last pipeline, and
// before calibration where that differs; an empty text where none was computed.
SEGCAL_EXPORT std::string ConfusionFigure(const EvaluateResult& result);

// Differences of the pipelines from the reference with their intervals, a column per metric; an
// empty text without statistics of several pipelines.
SEGCAL_EXPORT std::string ForestFigure(const EvaluateResult& result,
                                       const std::vector<MetricColumn>& columns);
// The same of matched pairs; an empty text without any.
SEGCAL_EXPORT std::string PairForestFigure(const Statistics& statistics,
                                           const std::vector<MetricColumn>& columns);

struct CaseFigureOptions {
  RunOptions run;
  // Empty: the case whose gain in ECE (else NLL) by the last pipeline is the median of all.
  std::string case_id;
};

// A slice of one case: image, labels, uncalibrated prediction, its errors, flips, confidence and
// local error before and after, free energy. After is the last pipeline, before the uncalibrated
// prediction of the same pooling. `models` are those that gave the result, and are applied to the
// case again.
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
// The names that these can have, before there is a result.
SEGCAL_EXPORT std::vector<std::string> EvaluationFigureNames();

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
