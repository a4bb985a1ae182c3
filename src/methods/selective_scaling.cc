// SPDX-License-Identifier: Apache-2.0
#include "methods/selective_scaling.h"

#include <algorithm>
#include <cmath>

#include "core/exact_sum.h"
#include "methods/bound_pass.h"

namespace segcal {
namespace {

constexpr double kSmallestProb = 0x1p-126;
constexpr double kLargest = 1e10;
constexpr int64_t kBins = 10;

double LogProb(const float* probs, int64_t c, int64_t v) {
  return std::log(std::max(static_cast<double>(probs[c * kTileVoxels + v]), kSmallestProb));
}

double LargestLog(const Tile& tile, int64_t v, const float* probs) {
  double largest = LogProb(probs, 0, v);
  for (int64_t c = 1; c < tile.num_classes; ++c) {
    largest = std::max(largest, LogProb(probs, c, v));
  }
  return largest;
}

std::vector<double> Candidates() {
  std::vector<double> candidates;
  for (double t = 2.0; t < kLargest; t *= 2.0) candidates.push_back(t);
  candidates.push_back(kLargest);
  return candidates;
}

// Bin (lo, hi] of a confidence.
int64_t BinOf(double confidence) {
  const auto bin = static_cast<int64_t>(std::ceil(confidence * kBins)) - 1;
  return std::clamp<int64_t>(bin, 0, kBins - 1);
}

// Confidence and correctness in ten bins.
struct Reliability {
  int64_t count[kBins] = {};
  int64_t correct[kBins] = {};
  ExactSum confidence[kBins];

  void Add(double conf, bool is_correct) {
    const int64_t b = BinOf(conf);
    ++count[b];
    correct[b] += is_correct ? 1 : 0;
    confidence[b].Add(conf);
  }
  void Merge(const Reliability& other) {
    for (int64_t b = 0; b < kBins; ++b) {
      count[b] += other.count[b];
      correct[b] += other.correct[b];
      confidence[b].Merge(other.confidence[b]);
    }
  }
  // Expected calibration error times the number of voxels.
  double Error() const {
    double error = 0.0;
    for (int64_t b = 0; b < kBins; ++b) {
      error += std::fabs(confidence[b].value() - static_cast<double>(correct[b]));
    }
    return error;
  }
};

struct CountTotals {
  SelectionCounts counts;
  void Flush() noexcept {}
  void Merge(const CountTotals& other) noexcept {
    counts.labelled += other.counts.labelled;
    counts.wrong += other.counts.wrong;
    counts.flagged += other.counts.flagged;
    counts.flagged_wrong += other.counts.flagged_wrong;
  }
};

// Voxels that are not flagged, and the flagged ones at every candidate.
struct CandidateTotals {
  Reliability kept;
  std::vector<Reliability> flagged;
  void Flush() noexcept {}
  void Merge(const CandidateTotals& other) {
    kept.Merge(other.kept);
    for (size_t k = 0; k < flagged.size(); ++k) flagged[k].Merge(other.flagged[k]);
  }
};

}  // namespace

double ScaledConfidence(const Tile& tile, int64_t v, double temperature, const float* probs) {
  const double largest = LargestLog(tile, v, probs);
  double sum = 0.0;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    sum += std::exp((LogProb(probs, c, v) - largest) / temperature);
  }
  return 1.0 / sum;
}

void ScaleVoxel(
    const Tile& tile, int64_t v, double temperature, uint16_t winner, const TileProbs& out) {
  const double largest = LargestLog(tile, v, out.probs);
  const double log_sum = -std::log(ScaledConfidence(tile, v, temperature, out.probs));
  float others = 0.0f;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    const double log_prob = (LogProb(out.probs, c, v) - largest) / temperature - log_sum;
    if (tile.labels[v] == c) out.log_label[v] = static_cast<float>(log_prob);
    float& q = out.probs[c * kTileVoxels + v];
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
  if (!selector) return;
  uint8_t flagged[kTileVoxels];
  selector->Flag(tile, flagged);
  BaseDecisions decisions;
  const uint16_t* decision = decisions.Of(tile, base, out.probs);
  for (int64_t v = 0; v < tile.count; ++v) {
    if (flagged[v] != 0) ScaleVoxel(tile, v, temperature, decision[v], out);
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
  const auto add = [&](const Tile& tile, const BoundCalibrator& bound, CountTotals* totals) {
    uint8_t flagged[kTileVoxels];
    selector.Flag(tile, flagged);
    BaseDecisions decisions;
    const uint16_t* decision = decisions.Of(tile, base, bound);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      const bool wrong = tile.labels[v] != decision[v];
      ++totals->counts.labelled;
      totals->counts.wrong += wrong ? 1 : 0;
      totals->counts.flagged += flagged[v];
      totals->counts.flagged_wrong += wrong ? flagged[v] : 0;
    }
  };
  return ReduceBound(stream, "count mispredictions", pooling, base, CountTotals{}, add).counts;
}

double ChooseTemperature(const CaseStream& stream,
                         const Pooling& pooling,
                         const Calibrator& base,
                         const Selector& selector,
                         double recall) {
  if (recall > 0.5) return kLargest;
  if (!(recall >= 0.35)) return 2.0;
  const std::vector<double> candidates = Candidates();
  CandidateTotals zero;
  zero.flagged.resize(candidates.size());
  const auto add = [&](const Tile& tile, const BoundCalibrator& bound, CandidateTotals* totals) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    bound.Apply(tile, out);
    uint8_t flagged[kTileVoxels];
    selector.Flag(tile, flagged);
    BaseDecisions decisions;
    const uint16_t* decision = decisions.Of(tile, base, out.probs);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      const bool correct = tile.labels[v] == decision[v];
      if (flagged[v] == 0) {
        totals->kept.Add(std::exp(LargestLog(tile, v, out.probs)), correct);
        continue;
      }
      for (size_t k = 0; k < candidates.size(); ++k) {
        totals->flagged[k].Add(ScaledConfidence(tile, v, candidates[k], out.probs), correct);
      }
    }
  };
  const CandidateTotals totals =
      ReduceBound(stream, "choose temperature", pooling, base, zero, add);
  size_t best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < candidates.size(); ++k) {
    Reliability all = totals.kept;
    all.Merge(totals.flagged[k]);
    if (!(all.Error() < lowest)) continue;
    lowest = all.Error();
    best = k;
  }
  return candidates[best];
}

}  // namespace segcal
