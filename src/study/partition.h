// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/compare.h"

namespace segcal {

// The cases of one repeat.
struct Partition {
  uint64_t seed = 0;
  Dataset calibration = {};
  Dataset validation = {};
  Dataset test = {};
};

// The partitions of a study, by group; only labelled cases take part, and of a data set that names
// splits only those of its calibration, validation and test. `split` becomes the proportions that
// were used, empty for the data set's own splits.
std::vector<Partition> MakePartitions(const Dataset& dataset,
                                      const CompareOptions& options,
                                      std::vector<double>* split);

// The ids of its cases.
std::vector<std::string> CaseIds(const Dataset& dataset);

// The cases of both, in the order of `dataset`, which has them all.
Dataset JoinCases(const Dataset& dataset, const Dataset& first, const Dataset& second);

// The first `count` groups of a data set's cases, in an order drawn by seed; all where there are no
// more.
Dataset FirstGroups(const Dataset& dataset, int64_t count, uint64_t seed);

// A case without a group is a group of its own.
int64_t CountGroups(const Dataset& dataset);

}  // namespace segcal
