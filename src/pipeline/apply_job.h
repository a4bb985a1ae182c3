// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/outputs.h"
#include "segcal/apply.h"

namespace segcal {

// What is written for every case, and where.
struct ApplyPlan {
  std::vector<PlannedOutput> outputs;
  DType dtype = DType::kF32;
  bool compress = false;
  bool force = false;  // write over files of the data set, and over what is no array
  // The file whose geometry new files of a case take over; empty: it is not known.
  std::function<std::string(const Case& entry, const CaseReader& reader)> reference;
};

// Applies a model to all cases that can be read: what the ways to apply share. Folders of the plan
// are made. An Error, before the work, if a file of the data set, or one that is no array, would be
// written over.
ApplyResult RunApply(const Model& model,
                     const Dataset& dataset,
                     const ApplyPlan& plan,
                     const RunOptions& run);

}  // namespace segcal
