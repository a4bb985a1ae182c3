// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "data/case_reader.h"

namespace segcal {

// Squared distance in voxels of every voxel of a case to the label boundary; kNoSource everywhere
// without one. Ignored and masked voxels have no label. Distances beyond 46,340 voxels, which only
// very long images have, are given as that.
std::vector<int32_t> SquaredCaseDistances(const CaseReader& reader);

}  // namespace segcal
