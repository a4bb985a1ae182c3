// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "segcal/metric_values.h"

namespace segcal {

// {"nll": 0.5, "dsc": 0.8}, and {"dsc": [0.7, 0.9]} for metrics that have values of classes.
Json MetricsToJson(const std::vector<MetricValue>& metrics);
Json PerClassToJson(const std::vector<MetricValue>& metrics);

// The metrics of both objects; `where` names the first in messages.
std::vector<MetricValue> ReadMetrics(const Json& values,
                                     const Json& per_class,
                                     const std::string& where);

}  // namespace segcal
