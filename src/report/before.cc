// SPDX-License-Identifier: Apache-2.0
#include "report/before.h"

#include <algorithm>
#include <cmath>

#include "core/throw.h"
#include "pipeline/spec.h"
#include "segcal/figures.h"

namespace segcal {
namespace {

// How much smaller an error is after than before, by case; NaN where it is not defined.
std::vector<double> Gains(const PipelineMetrics& before,
                          const PipelineMetrics& after,
                          const char* metric) {
  std::vector<double> gains;
  for (size_t c = 0; c < after.cases.size(); ++c) {
    gains.push_back(FindValue(before.cases[c].metrics, metric) -
                    FindValue(after.cases[c].metrics, metric));
  }
  return gains;
}

// Where the lower median of the defined values is; none without any.
std::optional<size_t> MedianPlace(const std::vector<double>& values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) order.push_back(i);
  }
  if (order.empty()) return std::nullopt;
  std::stable_sort(
      order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  return order[(order.size() - 1) / 2];
}

}  // namespace

bool IsBaseline(const std::string& pipeline) {
  return ParsePipeline(pipeline).stages == std::vector<std::string>{"none"};
}

std::string BaselinePipeline(const std::string& pipeline) {
  PipelineSpec spec = ParsePipeline(pipeline);
  spec.stages = {"none"};
  spec.options.clear();
  return FormatPipeline(spec);
}

std::optional<size_t> FindBefore(const EvaluateResult& result, size_t pipeline) {
  const std::string before = BaselinePipeline(result.pipelines[pipeline].pipeline);
  for (size_t p = 0; p < result.pipelines.size(); ++p) {
    if (p != pipeline && result.pipelines[p].pipeline == before) return p;
  }
  return std::nullopt;
}

std::string TypicalCase(const EvaluateResult& result) {
  const PipelineMetrics& after = result.pipelines.back();
  if (after.cases.empty()) Throw(ErrorCode::kInvalidArgument, "the result has no case to draw");
  if (const auto before = FindBefore(result, result.pipelines.size() - 1)) {
    for (const char* metric : {"ece", "nll"}) {
      const auto place = MedianPlace(Gains(result.pipelines[*before], after, metric));
      if (place) return after.cases[*place].id;
    }
  }
  return after.cases.front().id;
}

std::vector<Model> WithBaselines(const Dataset& dataset, const std::vector<Model>& models) {
  std::vector<std::string> there;
  for (const Model& model : models) there.push_back(model.pipeline());
  std::vector<Model> all;
  for (const Model& model : models) {
    const std::string before = BaselinePipeline(model.pipeline());
    if (std::find(there.begin(), there.end(), before) == there.end()) {
      there.push_back(before);
      all.push_back(Baseline(dataset, before));
    }
    all.push_back(model);
  }
  return all;
}

}  // namespace segcal
