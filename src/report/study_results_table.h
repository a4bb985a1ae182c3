// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/study.h"
#include "segcal/tables.h"

namespace segcal {

// A study, or one whose results are those of a shift, and what its columns are called.
struct TitledStudy {
  std::string title;  // empty: nothing
  const Study* study = nullptr;
};

// The metrics of the main paper's table of each of them side by side, a row per pipeline in the
// paper's blocks. They have the same pipelines.
Table ResultsSideBySide(const std::vector<TitledStudy>& studies, bool intervals);

}  // namespace segcal
