// SPDX-License-Identifier: Apache-2.0
#include "measures/bin_rule.h"

#include <cmath>
#include <limits>

namespace segcal {
namespace {

float NextAbove(float x) { return std::nextafter(x, 2.0f); }

// The smallest float32 that is not below x.
float RoundUp(double x) {
  const float nearest = static_cast<float>(x);
  return static_cast<double>(nearest) < x ? NextAbove(nearest) : nearest;
}

double Ratio(int64_t k, int64_t bins) { return static_cast<double>(k) / static_cast<double>(bins); }

// The smallest float32 above edge k, (BN1) to (BN4).
float StartAfterEdge(int64_t k, const BinRule& rule) {
  const double edge = Ratio(k, rule.bins);
  if (rule.edges == "open") return RoundUp(edge);
  if (rule.edges == "open_one_apart") return static_cast<float>(edge);
  if (rule.edges == "stretched")
    return RoundUp(static_cast<double>(k) * ((1.0 + 1e-8) / static_cast<double>(rule.bins)));
  if (rule.edges == "closed_stretched")
    return NextAbove(static_cast<float>(edge * (1.0 + 0x1p-23)));
  return NextAbove(static_cast<float>(edge));  // closed, closed_without_zero
}

}  // namespace

const std::vector<std::string>& EdgeNames() {
  static const std::vector<std::string> names = {
      "closed", "closed_without_zero", "closed_stretched", "open", "open_one_apart", "stretched"};
  return names;
}

std::vector<float> BinStarts(const BinRule& rule) {
  const bool without_zero = rule.edges == "closed_without_zero";
  std::vector<float> starts = {without_zero ? std::numeric_limits<float>::denorm_min() : 0.0f};
  for (int64_t k = 1; k < rule.bins; ++k) starts.push_back(StartAfterEdge(k, rule));
  if (rule.edges == "open_one_apart") starts.push_back(1.0f);
  return starts;
}

std::vector<double> DiagramEdges(const BinRule& rule) {
  std::vector<double> edges;
  for (int64_t k = 0; k <= rule.bins; ++k)
    edges.push_back(static_cast<double>(static_cast<float>(Ratio(k, rule.bins))));
  if (rule.edges == "open_one_apart") edges.push_back(1.0);
  return edges;
}

const std::vector<int64_t>& SupportedBinCounts() {
  static const std::vector<int64_t> counts = [] {
    std::vector<int64_t> divisors;
    for (int64_t b = 1; b <= 100; ++b) {
      if (600 % b == 0) divisors.push_back(b);
    }
    return divisors;
  }();
  return counts;
}

}  // namespace segcal
