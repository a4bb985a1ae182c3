// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/rng.h"

namespace segcal {

// The numbers 0 to count - 1 in a random order that the generator's stream alone decides on: by its
// number of each.
inline std::vector<int64_t> RandomOrder(int64_t count, const Rng& rng) {
  std::vector<std::pair<uint64_t, int64_t>> keys;
  keys.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) keys.emplace_back(rng.At(static_cast<uint64_t>(i)), i);
  std::sort(keys.begin(), keys.end());
  std::vector<int64_t> order;
  order.reserve(keys.size());
  for (const auto& [key, i] : keys) order.push_back(i);
  return order;
}

}  // namespace segcal
