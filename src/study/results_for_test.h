// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/study.h"

namespace segcal::testing {

// An evaluation of pipelines by one metric: values[pipeline][case]; cases of `groups`, if given.
inline EvaluateResult ResultOf(const std::vector<std::vector<double>>& values,
                               const std::vector<std::string>& groups = {},
                               const std::string& metric = "nll") {
  EvaluateResult result;
  for (const std::vector<double>& of_pipeline : values) {
    PipelineMetrics& pipeline = result.pipelines.emplace_back();
    for (size_t c = 0; c < of_pipeline.size(); ++c) {
      pipeline.cases.push_back({.id = "case" + std::to_string(c),
                                .group = groups.empty() ? "" : groups[c],
                                .metrics = {{metric, of_pipeline[c], {}}},
                                .cells = {},
                                .pooled_bins = {}});
    }
  }
  return result;
}

inline StudyPipeline Pipeline(const std::string& name,
                              int64_t identifiable,
                              Preserves preserves = Preserves::kOrder,
                              bool invariant = true) {
  return {.pipeline = name,
          .properties = {.translation_invariant = invariant, .preserves = preserves},
          .parameters = {.optimised = identifiable, .identifiable = identifiable}};
}

}  // namespace segcal::testing
