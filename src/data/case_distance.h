// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "data/case_reader.h"

namespace segcal {

// How far every voxel of a case is from the label boundary, squared. Ignored and masked voxels have
// no label.
struct CaseDistances {
  // In voxels; kNoSource everywhere without a boundary. Distances beyond 46,340 voxels, which only
  // very long images have, are given as that.
  std::vector<int32_t> voxels;
  // In the units of the spacing, if asked for; infinite everywhere without a boundary.
  std::vector<double> lengths;
};
CaseDistances SquaredCaseDistances(const CaseReader& reader,
                                   bool with_lengths,
                                   int num_threads = 1);

}  // namespace segcal
