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
  bool force = false;   // write over files of the data set, and over what is no array
  bool shared = false;  // other processes write into the same folders at the same time
  // The file whose geometry new files of a case take over; empty: it is not known.
  std::function<std::string(const Case& entry, const CaseReader& reader)> reference;
};

// Applying in steps, so that cases may be spread over parts of a job.
struct AppliedCase {
  std::string id;
  std::vector<std::string> files;
  bool knows_place = true;  // in space, or is written in no format that has one
  // A file of the prediction that was copied, and where it is now; or was not there to be copied.
  std::string carried_over = {};
  std::string not_there = {};
};
struct AppliedCases {
  std::vector<AppliedCase> cases;
  std::vector<std::string> skipped;  // "case: why"
  int64_t voxels = 0;
  int64_t renormalised = 0;
};

// What the result says of the whole.
struct ApplySummary {
  std::string pipeline;
  std::string dataset;
  std::string ensemble;                    // a warning about its size; empty: none
  std::vector<std::string> notes = {};     // warnings that come first
  std::vector<std::string> files = {};     // that all cases share
  std::vector<std::string> warnings = {};  // about these
};
ApplySummary SummariseApply(const Model& model, const Dataset& dataset);

// What options ask for; the cases, relative to which files are found, must outlive the plan.
ApplyPlan PlanApply(const Dataset& cases, const std::string& folder, const ApplyOptions& options);
// The cases that the options select, after a check of model and options.
Dataset CasesToApply(const Model& model, const Dataset& dataset, const ApplyOptions& options);
// Applies a model to all cases that can be read. Folders of the plan are made. An Error, before the
// work, if a file of the data set, or one that is no array, would be written over.
AppliedCases ApplyToCases(const Model& model,
                          const Dataset& cases,
                          const ApplyPlan& plan,
                          const RunOptions& run);
// Of all of them, in the order of the data set; none is an Error.
ApplyResult FinishApply(const ApplySummary& summary, AppliedCases done);

}  // namespace segcal
