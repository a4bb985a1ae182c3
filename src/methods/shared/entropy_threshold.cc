// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/entropy_threshold.h"

#include <algorithm>
#include <cmath>

#include "optim/isotonic.h"

namespace segcal {
namespace {

constexpr int64_t kQuantileBins = 20;

// The q quantile of sorted values, linear between neighbours.
double Quantile(const std::vector<HeldVoxel>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(low);
  return sorted[low].entropy + share * (sorted[high].entropy - sorted[low].entropy);
}

struct CurvePoint {
  double accuracy = 0.0;  // of this bin and those before
  double entropy = 0.0;   // mean of the bin
};

// One point for each quantile bin that is not empty (MC3), in the order of accuracy.
std::vector<CurvePoint> AccuracyCurve(const std::vector<HeldVoxel>& sorted) {
  std::vector<CurvePoint> curve;
  size_t next = 0;
  double hits = 0.0;
  for (int64_t bin = 1; bin <= kQuantileBins; ++bin) {
    const double edge =
        Quantile(sorted, static_cast<double>(bin) / static_cast<double>(kQuantileBins));
    const size_t first = next;
    double entropy = 0.0;
    const auto inside = [&] {
      return next < sorted.size() && (sorted[next].entropy <= edge || bin == kQuantileBins);
    };
    for (; inside(); ++next) {
      hits += sorted[next].correct ? 1.0 : 0.0;
      entropy += sorted[next].entropy;
    }
    if (next == first) continue;
    curve.push_back({.accuracy = hits / static_cast<double>(next),
                     .entropy = entropy / static_cast<double>(next - first)});
  }
  std::stable_sort(curve.begin(), curve.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return a.accuracy < b.accuracy;
  });
  return curve;
}

// Least squares among the functions of accuracy that never increase (MC4); equal accuracies give
// one point.
std::vector<CurvePoint> Decreasing(const std::vector<CurvePoint>& curve) {
  std::vector<CurvePoint> points;
  std::vector<IsotonicBlock> blocks;
  for (const CurvePoint& point : curve) {
    if (points.empty() || points.back().accuracy != point.accuracy) {
      const auto at = static_cast<int64_t>(points.size());
      points.push_back(point);
      blocks.push_back({.first = at, .last = at});
    }
    blocks.back().sum -= point.entropy;
    blocks.back().weight += 1.0;
  }
  for (const IsotonicBlock& block : PoolAdjacentViolators(blocks)) {
    for (int64_t i = block.first; i <= block.last; ++i) {
      points[static_cast<size_t>(i)].entropy = -block.Mean();
    }
  }
  return points;
}

}  // namespace

double MisCoverageThreshold(std::vector<double> entropies, double alpha) {
  std::sort(entropies.begin(), entropies.end());
  const double place = (1.0 - alpha) * static_cast<double>(entropies.size() - 1);
  return entropies[static_cast<size_t>(std::ceil(place))];
}

AccuracyThreshold FindAccuracyThreshold(std::vector<HeldVoxel> held, double accuracy) {
  std::sort(held.begin(), held.end(), [](const HeldVoxel& a, const HeldVoxel& b) {
    return a.entropy < b.entropy;
  });
  double hits = 0.0;
  for (const HeldVoxel& voxel : held) hits += voxel.correct ? 1.0 : 0.0;
  if (hits >= accuracy * static_cast<double>(held.size())) return {};
  const std::vector<CurvePoint> curve = Decreasing(AccuracyCurve(held));
  const CurvePoint& best = curve.back();
  if (accuracy > best.accuracy) return {.gamma = best.entropy, .reached = best.accuracy};
  // The first point that is accurate enough, and the straight line from the one before (MC5).
  size_t above = 0;
  while (curve[above].accuracy < accuracy) ++above;
  if (above == 0) return {.gamma = curve[0].entropy, .reached = {}};
  const CurvePoint& a = curve[above - 1];
  const CurvePoint& b = curve[above];
  const double share = (accuracy - a.accuracy) / (b.accuracy - a.accuracy);
  return {.gamma = a.entropy + share * (b.entropy - a.entropy), .reached = {}};
}

}  // namespace segcal
