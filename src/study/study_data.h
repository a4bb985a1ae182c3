// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/compare.h"
#include "study/plan.h"
#include "study/unit_store.h"

namespace segcal {

// Where the units of a study are kept: nowhere if arrays are in memory, which have no names by
// which units could be found again.
UnitStore OpenUnitStore(const Dataset& dataset, const CompareOptions& options);

// The data set, or with skip_bad, which is then done with, the cases that can be read; `warnings`
// get the others.
Dataset ReadableStudyCases(const Dataset& dataset,
                           const StudyPlan& plan,
                           CompareOptions* options,
                           std::vector<std::string>* warnings);

}  // namespace segcal
