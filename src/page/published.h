// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace segcal {

// A paired difference that the main paper publishes, second less first, with its 95 % interval.
// Overlaps are fractions.
struct PublishedDifference {
  const char* first;
  const char* second;
  const char* metric;
  const char* dataset;
  double estimate;
  double lower;
  double upper;
  bool significant;
};

// All of its Tables 9 and 10 (Kirscher26 in docs/references.md).
std::span<const PublishedDifference> PublishedDifferences() noexcept;

}  // namespace segcal
