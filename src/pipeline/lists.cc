// SPDX-License-Identifier: Apache-2.0
#include "calibrators/list.h"
#include "formats/array.h"
#include "metrics/metric.h"
#include "pipeline/outputs.h"
#include "segcal/methods.h"

namespace segcal {
namespace {

std::vector<MetricDescription> DescribeNumbers(const MetricInfo& info) {
  std::vector<MetricDescription> metrics;
  metrics.reserve(info.numbers.size());
  for (const MetricNumber& number : info.numbers) {
    metrics.push_back({.name = number.name,
                       .summary = number.summary,
                       .goal = number.goal,
                       .pooled = number.aggregate == Aggregate::kPooled});
  }
  return metrics;
}

FormatDescription DescribeFormat(const FormatInfo& info) {
  return {.name = info.name,
          .summary = info.summary,
          .extensions = Extensions(info),
          .writes = info.create != nullptr,
          .writes_floats = info.writes_floats,
          .writes_float16 = info.writes_float16,
          .writes_volumes = info.writes_volumes};
}

}  // namespace

std::vector<CalibratorDescription> ListCalibrators() {
  std::vector<CalibratorDescription> list;
  for (const CalibratorInfo* info : Calibrators()) {
    list.push_back({.name = info->name,
                    .summary = info->summary,
                    .reference = info->reference,
                    .page = info->page,
                    .options = info->default_options(),
                    .composes = info->composes});
  }
  return list;
}

std::vector<MetricFamilyDescription> ListMetrics() {
  std::vector<MetricFamilyDescription> list;
  for (const MetricInfo* info : Metrics()) {
    list.push_back({.name = info->name,
                    .reference = info->reference,
                    .metrics = DescribeNumbers(*info),
                    .options = info->defaults(),
                    .on_request = info->on_request});
  }
  return list;
}

std::vector<FormatDescription> ListFormats() {
  std::vector<FormatDescription> list;
  for (const FormatInfo* info : Formats()) list.push_back(DescribeFormat(*info));
  return list;
}

std::vector<OutputDescription> ListOutputs() {
  std::vector<OutputDescription> list;
  for (const OutputKind& kind : OutputKinds()) {
    list.push_back({.name = kind.name,
                    .summary = kind.summary,
                    .per_class = kind.per_class,
                    .needs_labels = kind.needs_labels});
  }
  return list;
}

}  // namespace segcal
