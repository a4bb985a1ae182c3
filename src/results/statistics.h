// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/evaluate.h"

namespace segcal {

// Which of the pipelines is the reference: the one named, in any spelling that parses to the same
// and without options where they are not needed to tell it; the first if none is named. An Error if
// there is none or more than one of that name.
size_t ReferenceIndex(const std::vector<std::string>& pipelines, const std::string& reference);

}  // namespace segcal
