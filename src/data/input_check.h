// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/case_reader.h"

namespace segcal {

// Looks at a few tiles of every opened member and throws if the values cannot be what the data set
// says: logits that are all distributions, or log-probabilities that do not sum to one.
void CheckInputKind(const CaseReader& reader);

// The opened members whose prediction is the same at every voxel: a network that did not run, or a
// file of zeros. Of a member that varies it reads a few tiles, of another all. Cases of a handful
// of voxels have none.
std::vector<int64_t> FindConstantMembers(const CaseReader& reader);

}  // namespace segcal
