// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selective_scaling.h"

#include <algorithm>
#include <cmath>

#include "methods/shared/bound_pass.h"
#include "methods/shared/reliability.h"

namespace segcal {
namespace {

double LogOf(float prob) { return std::log(std::max(static_cast<double>(prob), kSmallestProb)); }

// What (SS8) in logarithms takes: the largest, and that of the sum of what is left after division.
struct LogScale {
  double largest;
  double log_sum;
};
LogScale MakeLogScale(const Tile& tile, int64_t v, double temperature, const float* probs) {
  const double largest = LogOf(LargestProb(tile, v, probs));
  double sum = 0.0;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    sum += std::exp((LogOf(probs[c * kTileVoxels + v]) - largest) / temperature);
  }
  return {.largest = largest, .log_sum = std::log(sum)};
}

}  // namespace

void ScaleVoxel(
    const Tile& tile, int64_t v, double temperature, uint16_t winner, const TileProbs& out) {
  const LogScale scale = MakeLogScale(tile, v, temperature, out.probs);
  float others = 0.0f;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    float& q = out.probs[c * kTileVoxels + v];
    const double log_prob = (LogOf(q) - scale.largest) / temperature - scale.log_sum;
    if (tile.labels[v] == c) out.log_label[v] = static_cast<float>(log_prob);
    q = static_cast<float>(std::exp(log_prob));
    if (c != winner) others = std::max(others, q);
  }
  float& won = out.probs[winner * kTileVoxels + v];
  won = std::max(won, others * (1.0f + 0x1p-23f));
}

void SelectiveScaling::Apply(const Tile& tile,
                             const Calibrator& base,
                             const BoundCalibrator& bound,
                             const TileProbs& out) const {
  bound.Apply(tile, out);
  if (!scales()) return;
  uint8_t flagged[kTileVoxels];
  selector->Flag(tile, flagged);
  BaseDecisions decisions;
  const uint16_t* decision = decisions.Of(tile, base, out.probs);
  for (int64_t v = 0; v < tile.count; ++v) {
    const double own = flagged[v] != 0 ? temperature : kept_temperature;
    if (own != 1.0) ScaleVoxel(tile, v, own, decision[v], out);
  }
}

double SelectionCounts::recall() const {
  return wrong > 0 ? static_cast<double>(flagged_wrong) / static_cast<double>(wrong) : std::nan("");
}

double SelectionCounts::precision() const {
  return flagged > 0 ? static_cast<double>(flagged_wrong) / static_cast<double>(flagged)
                     : std::nan("");
}

SelectionCounts CountSelection(const CaseStream& stream,
                               const Pooling& pooling,
                               const Calibrator& base,
                               const Selector& selector) {
  const auto add = [&](const Tile& tile, const BoundCalibrator& bound, SelectionCounts* counts) {
    uint8_t flagged[kTileVoxels];
    selector.Flag(tile, flagged);
    BaseDecisions decisions;
    const uint16_t* decision = decisions.Of(tile, base, bound);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      const bool wrong = tile.labels[v] != decision[v];
      ++counts->labelled;
      counts->wrong += wrong ? 1 : 0;
      counts->flagged += flagged[v];
      counts->flagged_wrong += wrong ? flagged[v] : 0;
    }
  };
  return ReduceBound(stream, "count mispredictions", pooling, base, SelectionCounts{}, add);
}

}  // namespace segcal
