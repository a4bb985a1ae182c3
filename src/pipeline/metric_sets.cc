// SPDX-License-Identifier: Apache-2.0
#include "pipeline/metric_sets.h"

#include <algorithm>

namespace segcal {
namespace {

// Table 1 of Ding21: four errors in four regions, ten bins throughout (docs/methods/regional.md).
MetricSet RegionSet() {
  MetricSet set{.name = "s2", .metrics = {}, .options = {}};
  for (const char* error : {"ece", "mce", "sce", "adaptive"}) {
    for (const char* region : {"all", "boundary", "local_avg", "local_max"})
      set.metrics.push_back(std::string(error) + "_" + region);
  }
  for (const char* family : {"boundary_ece", "calibration_error", "classwise"})
    set.options[family] = {{"preset", "s2"}};
  set.options["adaptive"] = {{"adaptive_bins", "10"}};
  return set;
}

}  // namespace

const std::vector<MetricSet>& MetricSets() {
  static const std::vector<MetricSet> sets = {RegionSet()};
  return sets;
}

const MetricSet* FindMetricSet(const std::string& name) {
  const std::vector<MetricSet>& sets = MetricSets();
  const auto found = std::find_if(
      sets.begin(), sets.end(), [&](const MetricSet& set) { return set.name == name; });
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace segcal
