// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selective_scaling.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "kernels/bins.h"
#include "measures/bins.h"
#include "methods/shared/bound_pass.h"

namespace segcal {
namespace {

constexpr double kSmallestProb = 0x1p-126;

// Upper ends of the bins that a temperature is chosen by, (lo, hi].
constexpr float kUpperEdges[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1.0f};

float LargestProb(const Tile& tile, int64_t v, const float* probs) {
  float largest = probs[v];
  for (int64_t c = 1; c < tile.num_classes; ++c) {
    largest = std::max(largest, probs[c * kTileVoxels + v]);
  }
  return largest;
}

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

std::vector<double> Candidates() {
  std::vector<double> candidates;
  for (double t = 2.0; t < kLargestTemperature; t *= 2.0) candidates.push_back(t);
  candidates.push_back(kLargestTemperature);
  return candidates;
}

// Confidence and correctness, binned as metrics do it.
class Reliability {
 public:
  // The n voxels with these confidences.
  void Add(const float* confidence, const uint8_t* correct, int64_t n) {
    uint16_t bin[kTileVoxels];
    FindBins(confidence, n, {.upper = kUpperEdges}, bin);
    for (int64_t i = 0; i < n; ++i) {
      Bin& own = bins_[bin[i]];
      ++own.count;
      own.correct += correct[i];
      own.confidence.Add(static_cast<double>(confidence[i]));
    }
  }
  void Merge(const Reliability& other) {
    for (size_t b = 0; b < bins_.size(); ++b) bins_[b].Merge(other.bins_[b]);
  }
  double Error() const { return BinnedError(bins_, TotalCount(bins_), Norm::kMean); }

 private:
  std::vector<Bin> bins_ = std::vector<Bin>(std::size(kUpperEdges));
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

// Adds the labelled voxels of a tile that a base has emitted into `out`.
void AddCandidates(const Tile& tile,
                   const uint16_t* decision,
                   const uint8_t* flagged,
                   const std::vector<double>& candidates,
                   const TileProbs& out,
                   CandidateTotals* totals) {
  float confidence[kTileVoxels];
  uint8_t correct[kTileVoxels];
  const auto collect = [&](bool of_flagged, const auto& confidence_of) {
    int64_t n = 0;
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel || (flagged[v] != 0) != of_flagged) continue;
      confidence[n] = confidence_of(v);
      correct[n++] = tile.labels[v] == decision[v] ? 1 : 0;
    }
    return n;
  };
  const int64_t kept = collect(false, [&](int64_t v) { return LargestProb(tile, v, out.probs); });
  totals->kept.Add(confidence, correct, kept);
  EmitBuffer buffer;
  const TileProbs scaled = buffer.Reserve(tile.num_classes);
  for (size_t k = 0; k < candidates.size(); ++k) {
    const int64_t n = collect(true, [&](int64_t v) {
      for (int64_t c = 0; c < tile.num_classes; ++c) {
        scaled.probs[c * kTileVoxels + v] = out.probs[c * kTileVoxels + v];
      }
      ScaleVoxel(tile, v, candidates[k], decision[v], scaled);
      return LargestProb(tile, v, scaled.probs);
    });
    totals->flagged[k].Add(confidence, correct, n);
  }
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
  if (recall > 0.5) return kLargestTemperature;
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
    AddCandidates(tile, decision, flagged, candidates, out, totals);
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
