// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/json.h"
#include "segcal/statistics.h"

namespace segcal {

// {"ece": {"estimate": 0.02, "lower": 0.01, "upper": 0.03}, …}
inline Json IntervalsJson(const std::vector<MetricInterval>& intervals) {
  Json json = Json::object();
  for (const MetricInterval& interval : intervals) {
    json[interval.metric] = {{"estimate", JsonNumber(interval.estimate)},
                             {"lower", JsonNumber(interval.lower)},
                             {"upper", JsonNumber(interval.upper)}};
  }
  return json;
}

}  // namespace segcal
