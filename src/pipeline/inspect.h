// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/inspect.h"

namespace segcal {

// Inspection in steps, so that its cases may be spread over parts of a job.

struct InspectPlan {
  std::string name;
  std::vector<std::string> classes;
  InputKind input = InputKind::kLogits;
  int64_t members = 0;  // of every case
};

struct InspectedCase {
  CaseSummary summary;
  bool has_labels = false;
  std::vector<int64_t> constant;      // members that predict the same at every voxel
  std::vector<int64_t> label_counts;  // per class
  std::vector<int64_t> decision_counts;
  int64_t repeated = 0;
  std::vector<double> repeated_example;  // empty: none
  int64_t renormalised = 0;
};

struct InspectedCases {
  std::vector<InspectedCase> cases;
  std::vector<std::string> skipped;  // "case: why"
};

// Of all cases.
InspectPlan PlanInspection(const Dataset& dataset);
// Of all or some of them.
InspectedCases InspectCases(const Dataset& cases, const RunOptions& run);
// Of all of them, in the order of the data set; none is an Error.
DatasetSummary FinishInspection(const InspectPlan& plan, InspectedCases done);

}  // namespace segcal
