// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "study/plan.h"
#include "study/unit_runner.h"

namespace segcal {

// How many units one repeat has for what the options vary.
int64_t CountSensitivityUnits(const StudyPlan& plan, const CompareOptions& options);

// The metrics of the pipelines at `places` for every value of what the options vary; a value at
// which one of them fails is left out. `fitted` are the models of every repeat.
std::vector<SensitivityPoint> RunSensitivity(const StudyPlan& plan,
                                             const CompareOptions& options,
                                             const std::vector<const FittedModels*>& fitted,
                                             const std::vector<size_t>& places,
                                             UnitRunner* runner);

// The units of some pipelines in one repeat alone; `fitted` has these pipelines.
void RunSensitivityUnits(const StudyPlan& plan,
                         const CompareOptions& options,
                         const FittedModels& fitted,
                         size_t repeat,
                         UnitRunner* runner);

}  // namespace segcal
