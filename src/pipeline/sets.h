// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace segcal {

// A named list of pipelines that people compare.
struct PipelineSet {
  const char* name;
  const char* summary;
  std::vector<std::string> (*pipelines)();
};

const std::vector<PipelineSet>& PipelineSets();

}  // namespace segcal
