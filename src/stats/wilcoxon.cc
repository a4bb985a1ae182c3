// SPDX-License-Identifier: Apache-2.0
#include "stats/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/ranking.h"

namespace segcal {
namespace {

// Above this the normal distribution serves well; sums of 2^50 signs are still exact in double.
constexpr size_t kExactDifferences = 50;

// The differences that have a sign, without those that are undefined.
std::vector<double> SignedOnly(std::span<const double> differences) {
  std::vector<double> kept;
  for (const double d : differences) {
    if (!std::isnan(d) && d != 0.0) kept.push_back(d);
  }
  return kept;
}

// P(W >= w) if every rank of 1..n is positive with chance 1/2 (WX2): c(n, w) of the 2^n signs have
// the sum w, c(n, w) = c(n - 1, w) + c(n - 1, w - n), by the sign of the largest.
double ExactSignTail(size_t n, double w) {
  const size_t largest = n * (n + 1) / 2;
  std::vector<double> counts(largest + 1);
  counts[0] = 1.0;
  for (size_t k = 1; k <= n; ++k) {
    for (size_t v = largest; v >= k; --v) counts[v] += counts[v - k];
  }
  const auto first = static_cast<std::ptrdiff_t>(std::ceil(w));
  return std::accumulate(counts.begin() + first, counts.end(), 0.0) /
         std::ldexp(1.0, static_cast<int>(n));
}

// P(W >= w) of a normal distribution with the moments of W (WX3).
double NormalSignTail(double n, double tie_term, double w) {
  const double variance = (n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * tie_term) / 24.0;
  return 0.5 * std::erfc((w - 0.25 * n * (n + 1.0)) / std::sqrt(2.0 * variance));
}

}  // namespace

WilcoxonResult WilcoxonSignedRank(std::span<const double> differences, Alternative alternative) {
  const auto defined = std::count_if(
      differences.begin(), differences.end(), [](double d) { return !std::isnan(d); });
  if (defined == 0) return {.w = std::nan(""), .p = std::nan("")};
  const std::vector<double> kept = SignedOnly(differences);
  if (kept.empty()) return {.w = 0.0, .p = 1.0};  // all equal: no evidence
  std::vector<double> sizes = kept;
  for (double& size : sizes) size = std::fabs(size);
  const std::vector<double> ranks = AverageRanks(sizes);
  WilcoxonResult result;
  for (size_t i = 0; i < kept.size(); ++i) result.w += kept[i] > 0.0 ? ranks[i] : 0.0;
  const auto n = static_cast<double>(kept.size());
  const double other = 0.5 * n * (n + 1.0) - result.w;
  const double w = alternative == Alternative::kGreater ? result.w
                   : alternative == Alternative::kLess  ? other
                                                        : std::max(result.w, other);
  const double tie_term = TieTerm(std::move(sizes));
  result.exact = tie_term == 0.0 && std::ssize(kept) == defined && kept.size() <= kExactDifferences;
  const double tail = result.exact ? ExactSignTail(kept.size(), w) : NormalSignTail(n, tie_term, w);
  result.p = std::min(1.0, alternative == Alternative::kTwoSided ? 2.0 * tail : tail);
  return result;
}

}  // namespace segcal
