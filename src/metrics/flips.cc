// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "metrics/metric.h"

namespace segcal {
namespace {

// Labelled voxels whose class changed by calibration, docs/methods/flips.md.
class FlipAccumulator final : public MetricAccumulator {
 public:
  void Add(const EvalTile& tile) override {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const int32_t label = tile.labels[v];
      if (label == kNoLabel) continue;
      ++count_;
      if (tile.predicted[v] == tile.decision[v]) continue;
      // The two differ, so at most one of them is right: (D2) to (D4) share out (D1).
      if (tile.decision[v] == label) {
        ++harmful_;
      } else if (tile.predicted[v] == label) {
        ++beneficial_;
      } else {
        ++neutral_;
      }
    }
  }

  void Merge(const MetricAccumulator& other) override {
    const auto& from = static_cast<const FlipAccumulator&>(other);
    count_ += from.count_;
    harmful_ += from.harmful_;
    beneficial_ += from.beneficial_;
    neutral_ += from.neutral_;
  }

  std::vector<MetricValue> Finish() const override {
    return {{"flip_rate", Percent(harmful_ + beneficial_ + neutral_), {}},
            {"flips_harmful", Percent(harmful_), {}},
            {"flips_beneficial", Percent(beneficial_), {}},
            {"flips_neutral", Percent(neutral_), {}}};
  }

 private:
  double Percent(int64_t flips) const {
    if (count_ == 0) return std::nan("");
    return 100.0 * static_cast<double>(flips) / static_cast<double>(count_);
  }

  int64_t count_ = 0;
  int64_t harmful_ = 0;
  int64_t beneficial_ = 0;
  int64_t neutral_ = 0;
};

constexpr MetricNumber kNumbers[] = {
    {"flip_rate",
     "percent of voxels whose class differs from the uncalibrated decision",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     100.0},
    {"flips_harmful",
     "percent of voxels flipped from the label to another class",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     100.0},
    {"flips_beneficial",
     "percent of voxels flipped from another class to the label",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     100.0},
    {"flips_neutral",
     "percent of voxels flipped from one wrong class to another",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     0.0,
     100.0},
};

std::unique_ptr<MetricAccumulator> MakeFlips(const MetricContext&, const OptionMap& options) {
  ParseOptions<NoOptions>("flips", options);
  return std::make_unique<FlipAccumulator>();
}

}  // namespace

extern constinit const MetricInfo kFlips{.name = "flips",
                                         .reference = "Kirscher26",
                                         .numbers = kNumbers,
                                         .defaults = &DefaultOptions<NoOptions>,
                                         .make = &MakeFlips};

}  // namespace segcal
