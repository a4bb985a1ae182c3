// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace segcal {

// Deals items to parts by size, the largest first, each to the part that has least so far: the part
// of every item, from 0. The same for the same sizes.
std::vector<int64_t> DealBySize(const std::vector<int64_t>& sizes, int64_t num_parts);

}  // namespace segcal
