// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "measures/ranked.h"

namespace segcal {

// Voxels told apart by class, predicted or true: a list of ties for each, ascending.
using ClassGroups = std::vector<std::vector<TieGroup>>;

// All of them as one ascending list.
std::vector<TieGroup> JoinGroups(const ClassGroups& classes);

// Gaps of the bins of every class, weighted by their share of all voxels: B bins of equal width,
// closed above (RS1), or cut at the percentiles of all (AD5). NaN without a voxel.
double EqualWidthClassGap(const ClassGroups& classes, int64_t num_bins);
double PercentileClassGap(const ClassGroups& classes, int64_t num_bins);

// Mean over classes and bins of equal mass of the gap of the class's voxels in the bin (RS2); none
// there is no gap. Ties that an edge cuts are shared out in proportion. NaN without a voxel.
double EqualMassClassGap(const ClassGroups& classes, int64_t num_bins);

}  // namespace segcal
