// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// distance[v] = sqrt(squared[v]), `unknown` where squared[v] is the largest int32, for a tile;
// within half a unit in the last place, as sqrt.
void DistanceTile(const int32_t* squared, double unknown, double* distance) noexcept;

}  // namespace segcal
