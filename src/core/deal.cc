// SPDX-License-Identifier: Apache-2.0
#include "core/deal.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace segcal {

std::vector<int64_t> DealBySize(const std::vector<int64_t>& sizes, int64_t num_parts) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  // What a part has so far: its size, its items, its number.
  std::set<std::tuple<int64_t, int64_t, int64_t>> parts;
  for (int64_t p = 0; p < std::min(num_parts, std::ssize(sizes)); ++p) parts.insert({0, 0, p});
  std::vector<int64_t> dealt(sizes.size());
  for (const size_t item : order) {
    const auto [size, items, part] = *parts.begin();
    parts.erase(parts.begin());
    dealt[item] = part;
    parts.insert({size + sizes[item], items + 1, part});
  }
  return dealt;
}

}  // namespace segcal
