// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "segcal/fuse.h"
#include "stats/interval_json.h"

namespace segcal {
namespace {

Json MetricsJson(const std::vector<MetricValue>& metrics) {
  Json json = Json::object();
  for (const MetricValue& metric : metrics) json[metric.name] = JsonNumber(metric.value);
  return json;
}

Json RowJson(const FusionRow& row) {
  return {{"name", row.name},
          {"mean", IntervalsJson(row.means)},
          {"difference", IntervalsJson(row.differences)},
          {"metric_per_case", JsonItems(row.cases, [](const FusedCase& c) {
             return Json{{"case", c.id}, {"metrics", MetricsJson(c.metrics)}};
           })}};
}

}  // namespace

std::string ToJson(const FuseResult& result) {
  return DumpJson({{"segcal_fusion", 1},
                   {"dataset", result.dataset},
                   {"split", result.split.empty() ? Json(nullptr) : Json(result.split)},
                   {"method", result.method},
                   {"candidates", result.candidates},
                   {"cases", result.cases},
                   {"voxels", result.voxels},
                   {"skipped", result.skipped},
                   {"rows", JsonItems(result.rows, &RowJson)}});
}

}  // namespace segcal
