// SPDX-License-Identifier: Apache-2.0
#include "results/metrics_json.h"

#include "core/json.h"

namespace segcal {

Json MetricsToJson(const std::vector<MetricValue>& metrics) {
  Json json = Json::object();
  for (const MetricValue& metric : metrics) json[metric.name] = JsonNumber(metric.value);
  return json;
}

Json PerClassToJson(const std::vector<MetricValue>& metrics) {
  Json json = Json::object();
  for (const MetricValue& metric : metrics) {
    if (!metric.per_class.empty()) json[metric.name] = JsonNumbers(metric.per_class);
  }
  return json;
}

std::vector<MetricValue> ReadMetrics(const Json& values,
                                     const Json& per_class,
                                     const std::string& where) {
  JsonObject numbers(values, where);
  JsonObject lists(per_class, where + " per class");
  std::vector<MetricValue> metrics;
  for (const auto& [name, value] : values.items()) {
    MetricValue& metric = metrics.emplace_back();
    metric.name = name;
    metric.value = numbers.AnyNumber(name);
    if (lists.Has(name)) metric.per_class = lists.AnyNumbers(name);
  }
  lists.Finish();
  return metrics;
}

}  // namespace segcal
