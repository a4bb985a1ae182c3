// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "metrics/metric.h"

namespace segcal {
namespace {

// Labelled voxels and those whose class changed by calibration.
struct FlipCounts {
  int64_t count = 0;
  int64_t harmful = 0;
  int64_t beneficial = 0;
  int64_t neutral = 0;

  int64_t flipped() const { return harmful + beneficial + neutral; }
  static constexpr auto SumFields() {
    using F = FlipCounts;
    return std::tuple(&F::count, &F::harmful, &F::beneficial, &F::neutral);
  }
  double Percent(int64_t flips) const {
    if (count == 0) return std::nan("");
    return 100.0 * static_cast<double>(flips) / static_cast<double>(count);
  }
};

// The audit of flips, docs/methods/flips.md, by the class of the label.
class FlipAccumulator final : public ListedSums<FlipAccumulator> {
 public:
  explicit FlipAccumulator(int64_t num_classes) : of_class_(static_cast<size_t>(num_classes)) {}

  void Add(const EvalTile& tile) override {
    CountLabels(tile.labels);
    if (tile.predicted == tile.decision) return;  // a pipeline that keeps it
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const int32_t label = tile.labels[v];
      if (label == kNoLabel || tile.predicted[v] == tile.decision[v]) continue;
      FlipCounts& counts = of_class_[static_cast<size_t>(label)];
      // The two differ, so at most one of them is right: (D2) to (D4) share out (D1).
      if (tile.decision[v] == label) {
        ++counts.harmful;
      } else if (tile.predicted[v] == label) {
        ++counts.beneficial;
      } else {
        ++counts.neutral;
      }
    }
  }

  static constexpr auto SumFields() { return std::tuple(&FlipAccumulator::of_class_); }

  std::vector<MetricValue> Finish() const override {
    return {Number("flip_rate", [](const FlipCounts& counts) { return counts.flipped(); }),
            Number("flips_harmful", [](const FlipCounts& counts) { return counts.harmful; }),
            Number("flips_beneficial", [](const FlipCounts& counts) { return counts.beneficial; }),
            Number("flips_neutral", [](const FlipCounts& counts) { return counts.neutral; })};
  }

 private:
  // Neighbours mostly have the same label: runs are added at once.
  void CountLabels(const int32_t* labels) {
    int32_t label = 0;
    int64_t run = 0;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      if (labels[v] == kNoLabel) continue;
      if (labels[v] != label) {
        of_class_[static_cast<size_t>(label)].count += run;
        label = labels[v];
        run = 0;
      }
      ++run;
    }
    of_class_[static_cast<size_t>(label)].count += run;
  }

  template <class Flips>
  MetricValue Number(const char* name, const Flips& flips) const {
    FlipCounts all;
    std::vector<double> per_class;
    for (const FlipCounts& counts : of_class_) {
      MergeSums(counts, &all);
      per_class.push_back(counts.Percent(flips(counts)));
    }
    return {name, all.Percent(flips(all)), per_class};
  }

  std::vector<FlipCounts> of_class_;
};

constexpr MetricNumber kFlipsNumbers[] = {
    {"flip_rate",
     "percent of voxels whose class differs from the uncalibrated decision",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     100.0,
     nullptr,
     DependsOn::kFlips},
    {"flips_harmful",
     "percent of voxels flipped from the label to another class",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     100.0,
     nullptr,
     DependsOn::kFlips},
    {"flips_beneficial",
     "percent of voxels flipped from another class to the label",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     100.0,
     nullptr,
     DependsOn::kFlips},
    {"flips_neutral",
     "percent of voxels flipped from one wrong class to another",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     0.0,
     100.0,
     nullptr,
     DependsOn::kFlips},
};

std::unique_ptr<MetricAccumulator> MakeFlips(const MetricContext& context,
                                             const OptionMap& options) {
  ParseOptions<NoOptions>("flips", options);
  return std::make_unique<FlipAccumulator>(context.num_classes);
}

}  // namespace

extern constinit const MetricInfo kFlips{.name = "flips",
                                         .reference = "Kirscher26",
                                         .numbers = kFlipsNumbers,
                                         .defaults = &DefaultOptions<NoOptions>,
                                         .make = &MakeFlips};

}  // namespace segcal
