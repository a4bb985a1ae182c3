// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/evaluate.h"

namespace segcal {

// Evaluate, and the bytes of each model's sums over all cases (Accumulators::Pack), which merge
// with those of other cases.
EvaluateResult EvaluateWithSums(const Dataset& dataset,
                                const std::vector<Model>& models,
                                const EvaluateOptions& options,
                                std::vector<std::string>* sums);

}  // namespace segcal
