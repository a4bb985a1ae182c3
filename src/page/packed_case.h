// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "page/explored_case.h"

namespace segcal {

// How pipelines relate to each other, by their place in the study.
struct PackOrder {
  std::vector<int64_t> first_of_pooling;  // the first pipeline that pools as this one does
  std::vector<int64_t> reference;         // whose planes this one's are stored against; -1: none
  std::vector<bool> keeps;                // never changes the decision
};

// What is kept of the grid of a case: confidence and fields at every `fine`-th of its points, the
// probabilities of leading classes at every `coarse`-th.
struct PackSteps {
  int64_t fine = 1;
  int64_t coarse = 1;
};

// A case for the page: what the script must know of it, and its planes in the order that
// docs/report.md gives, deflated.
struct PackedCase {
  Json manifest;
  std::string bytes;
};
PackedCase PackCase(const ExploredCase& explored, const PackOrder& order, PackSteps steps);

}  // namespace segcal
