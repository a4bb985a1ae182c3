// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace segcal {

// B bins of equal width over [0, 1] and who gets a value on an edge, docs/methods/bins.md.
struct BinRule {
  int64_t bins = 1;
  std::string edges = "closed";  // one of EdgeNames()

  bool operator==(const BinRule&) const = default;
};

// The known edge rules: closed, closed_without_zero, closed_stretched, open, open_one_apart,
// stretched.
const std::vector<std::string>& EdgeNames();

// The rule as float32 numbers: starts[k] is the smallest float32 of bin k, so x lies in the last
// bin whose start is not above it, and in none if all are. Comparisons with edges in double, open
// or closed, become this without loss, since emitted confidences are float32.
std::vector<float> BinStarts(const BinRule& rule);

// The edges as a diagram shows them: BinStarts(rule).size() + 1 of them, from 0 to 1.
std::vector<double> DiagramEdges(const BinRule& rule);

// Numbers of bins that CellGrid supports for every edge rule: the divisors of 600 up to 100. All
// conventions we know of are among them (5, 10, 15, 20, 25, 30, 50, 100).
const std::vector<int64_t>& SupportedBinCounts();

}  // namespace segcal
