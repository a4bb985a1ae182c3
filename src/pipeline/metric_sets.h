// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/options.h"

namespace segcal {

// Metrics that belong together, with the options they are computed with, under one name.
struct MetricSet {
  std::string name;
  std::vector<std::string> metrics;
  // Of families, whether their metrics are in the set or named beside it; options that are given
  // take precedence.
  std::map<std::string, OptionMap> options;
};

const std::vector<MetricSet>& MetricSets();

// Null if there is none of that name.
const MetricSet* FindMetricSet(const std::string& name);

}  // namespace segcal
