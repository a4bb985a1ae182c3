// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "segcal/evaluate.h"

namespace segcal {

// Whether a pipeline is the prediction as it is.
bool IsBaseline(const std::string& pipeline);

// The uncalibrated prediction of the pooling of a pipeline: "none(p)" of "cms_ap(p)".
std::string BaselinePipeline(const std::string& pipeline);

// What a pipeline of a result is compared with in figures: the uncalibrated prediction of its
// pooling, so that differences are the calibrator's. None where the result has not got it, or the
// pipeline is it.
std::optional<size_t> FindBefore(const EvaluateResult& result, size_t pipeline);

// The case whose gain by the last pipeline, in ECE or else NLL, is the median of all: a picture of
// it shows what is typical. The first one where there is nothing to gain from.
std::string TypicalCase(const EvaluateResult& result);

}  // namespace segcal
