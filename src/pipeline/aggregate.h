// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/accumulators.h"
#include "segcal/dataset.h"

namespace segcal {

// The numbers to report: means over the cases where a metric is defined, or the pooled value where
// the metric is one of all voxels.
std::vector<MetricValue> MeanOverCases(const std::vector<CaseMetrics>& cases,
                                       const MetricSelection& selection,
                                       const std::vector<MetricValue>& pooled);

// Means over groups of their pooled values; empty without groups.
std::vector<MetricValue> MeanOverGroups(const std::vector<GroupMetrics>& groups);

// Whether a case names a group.
bool NamesGroups(const Dataset& dataset);

// Totals of the groups of a data set, for every model. A group's sums are freed when its last case
// is in.
class GroupSums {
 public:
  // No group at all unless `grouped`; a case without a group is one of its own.
  GroupSums(const Dataset& dataset,
            bool grouped,
            size_t num_models,
            const MetricContext& context,
            MetricSelection selection);

  // Not safe from several threads.
  void AddCase(int64_t case_index, size_t model, const Accumulators& total);

  // In the order of their first cases.
  std::vector<GroupMetrics> Finish(size_t model, const std::vector<CaseMetrics>& cases) const;

 private:
  struct ModelSums {
    std::unique_ptr<Accumulators> sums;
    int64_t added = 0;
    std::vector<MetricValue> pooled;
  };
  struct Group {
    std::string name;
    std::vector<size_t> cases;
    std::vector<ModelSums> models;
  };

  MetricContext context_;
  MetricSelection selection_;
  std::vector<Group> groups_;
  std::vector<size_t> group_of_;  // [case]; empty without groups
};

}  // namespace segcal
