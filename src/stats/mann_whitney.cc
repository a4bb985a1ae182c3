// SPDX-License-Identifier: Apache-2.0
#include "stats/mann_whitney.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/ranking.h"

namespace segcal {
namespace {

// Above this the normal distribution serves well, and the exact one costs the square of the
// product of the sizes.
constexpr size_t kExactSize = 8;

std::vector<double> DefinedOnly(std::span<const double> values) {
  std::vector<double> kept;
  for (const double value : values) {
    if (!std::isnan(value)) kept.push_back(value);
  }
  return kept;
}

// P(U >= u) if all orders of m and n values are equally likely (RT2). The number of orders with
// statistic u follows c(m, n, u) = c(m - 1, n, u - n) + c(m, n - 1, u), by which value is largest.
double ExactTail(size_t m, size_t n, double u) {
  const size_t size = m * n + 1;
  // counts[k * size + u] is c(k, j, u), for j = 0 at first: one order, u = 0.
  std::vector<double> counts((m + 1) * size);
  for (size_t k = 0; k <= m; ++k) counts[k * size] = 1.0;
  for (size_t j = 1; j <= n; ++j) {
    for (size_t k = 1; k <= m; ++k) {
      for (size_t v = j; v < size; ++v) counts[k * size + v] += counts[(k - 1) * size + v - j];
    }
  }
  const double* row = &counts[m * size];
  const auto first = static_cast<std::ptrdiff_t>(std::ceil(u));
  return std::accumulate(row + std::max<std::ptrdiff_t>(0, first), row + size, 0.0) /
         std::accumulate(row, row + size, 0.0);
}

// P(U >= u) of a normal distribution with the moments of U (RT3), half a step taken off u.
double NormalTail(double m, double n, double tie_term, double u) {
  const double size = m + n;
  const double variance = m * n / 12.0 * ((size + 1.0) - tie_term / (size * (size - 1.0)));
  if (!(variance > 0.0)) return 1.0;  // all values equal: no evidence
  return 0.5 * std::erfc((u - 0.5 * m * n - 0.5) / std::sqrt(2.0 * variance));
}

}  // namespace

MannWhitneyResult MannWhitneyU(std::span<const double> x,
                               std::span<const double> y,
                               Alternative alternative) {
  const std::vector<double> first = DefinedOnly(x);
  const std::vector<double> second = DefinedOnly(y);
  if (first.empty() || second.empty()) return {.u = std::nan(""), .p = std::nan("")};
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto m = static_cast<double>(first.size());
  const auto n = static_cast<double>(second.size());
  const std::vector<double> ranks = AverageRanks(all);
  const double rank_sum = std::accumulate(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(first.size()), 0.0);
  MannWhitneyResult result{.u = rank_sum - 0.5 * m * (m + 1.0)};
  const double other = m * n - result.u;
  const double u = alternative == Alternative::kGreater ? result.u
                   : alternative == Alternative::kLess  ? other
                                                        : std::max(result.u, other);
  const double tie_term = TieTerm(all);
  result.exact = tie_term == 0.0 && std::min(first.size(), second.size()) <= kExactSize;
  // The count is symmetric in the two sizes; the smaller one first needs less memory.
  const double tail = result.exact ? ExactTail(std::min(first.size(), second.size()),
                                               std::max(first.size(), second.size()),
                                               u)
                                   : NormalTail(m, n, tie_term, u);
  result.p = std::min(1.0, alternative == Alternative::kTwoSided ? 2.0 * tail : tail);
  return result;
}

std::vector<double> BenjaminiHochberg(std::span<const double> p) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.begin(), p.end());
  double smallest = 1.0;
  for (size_t k = order.size(); k > 0; --k) {
    const size_t i = order[k - 1];
    smallest =
        std::min(smallest, p[i] * static_cast<double>(order.size()) / static_cast<double>(k));
    adjusted[i] = smallest;
  }
  return adjusted;
}

}  // namespace segcal
