// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/study_view.h"
#include "segcal/dataset.h"
#include "segcal/run_options.h"

namespace segcal {

// A case to look at, and why.
struct ChosenCase {
  std::string id;
  std::string why;  // "typical", "best, most flipped"
};

// Of the first repeat's test cases, by the NLL of the recommended pipeline: the median one, the
// best, the worst, the one that any pipeline flips most, then others evenly spaced in between,
// `count` in all. No case is there twice.
std::vector<ChosenCase> ChooseCases(const StudyView& view, int64_t count);

struct ExplorerInput {
  Dataset dataset;
  std::string folder;  // of the study, where its models are
  std::vector<ChosenCase> cases;
  int64_t most_bytes = 0;  // of the section
  RunOptions run;
};

// The section with the cases as the models of the first repeat see them, on the finest grid that
// fits the bytes.
std::string ExplorerSection(const StudyView& view, const ExplorerInput& input);

// The section where it cannot be made, and why.
std::string NoExplorerSection(const std::string& reason);

}  // namespace segcal
