// SPDX-License-Identifier: Apache-2.0
#include "measures/bins.h"

#include <algorithm>

namespace segcal {
namespace {

// (E3): the gaps weighted by occupancy.
double MeanGap(const std::vector<Bin>& bins, double total) {
  double sum = 0.0;
  for (const Bin& bin : bins) {
    if (bin.count > 0) sum += bin.WeightedGap();
  }
  return sum / total;
}

// (E7): the same of their squares, and the root.
double RootMeanSquareGap(const std::vector<Bin>& bins, double total) {
  double sum = 0.0;
  for (const Bin& bin : bins) {
    if (bin.count > 0) sum += bin.WeightedGap() * bin.Gap();
  }
  return std::sqrt(sum / total);
}

// (E4): the largest gap of a non-empty bin.
double LargestGap(const std::vector<Bin>& bins) {
  double largest = std::nan("");
  for (const Bin& bin : bins) {
    if (bin.count > 0) largest = std::fmax(largest, bin.Gap());
  }
  return largest;
}

}  // namespace

int64_t TotalCount(const std::vector<Bin>& bins) {
  int64_t count = 0;
  for (const Bin& bin : bins) count += bin.count;
  return count;
}

double BinnedError(const std::vector<Bin>& bins, int64_t total, Norm norm) {
  if (TotalCount(bins) == 0) return std::nan("");
  if (norm == Norm::kLargest) return LargestGap(bins);
  const auto n = static_cast<double>(total);
  return norm == Norm::kMean ? MeanGap(bins, n) : RootMeanSquareGap(bins, n);
}

double AverageError(const std::vector<Bin>& bins) {
  double sum = 0.0;
  int64_t non_empty = 0;
  for (const Bin& bin : bins) {
    if (bin.count == 0) continue;
    sum += bin.Gap();
    ++non_empty;
  }
  return non_empty > 0 ? sum / static_cast<double>(non_empty) : std::nan("");
}

double DebiasedError(const std::vector<Bin>& bins, int64_t total) {
  if (TotalCount(bins) == 0) return std::nan("");
  double sum = 0.0;
  for (const Bin& bin : bins) {
    // One voxel tells nothing about the noise of its bin.
    if (bin.count < 2) continue;
    const double accuracy = bin.Accuracy();
    const double noise = accuracy * (1.0 - accuracy) / static_cast<double>(bin.count - 1);
    sum += bin.WeightedGap() * bin.Gap() - static_cast<double>(bin.count) * noise;
  }
  return std::sqrt(std::max(sum / static_cast<double>(total), 0.0));
}

BrierParts DecomposeBrier(const std::vector<Bin>& bins) {
  Bin all;
  for (const Bin& bin : bins) MergeSums(bin, &all);
  if (all.count == 0) return {std::nan(""), std::nan(""), std::nan("")};
  const auto n = static_cast<double>(all.count);
  const double rate = all.Accuracy();
  BrierParts parts{.uncertainty = rate * (1.0 - rate)};
  for (const Bin& bin : bins) {
    if (bin.count == 0) continue;
    const double apart = bin.Accuracy() - rate;
    parts.reliability += bin.WeightedGap() * bin.Gap() / n;
    parts.resolution += static_cast<double>(bin.count) * apart * apart / n;
  }
  return parts;
}

}  // namespace segcal
