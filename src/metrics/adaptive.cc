// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "measures/class_gaps.h"
#include "measures/foreground.h"
#include "measures/means.h"
#include "measures/ranked.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

struct AdaptiveOptions {
  // Bins of equal mass. Nixon19 and Ding21 use between 10 and 30.
  int64_t adaptive_bins = 15;
  // tace looks at probabilities above this only.
  double tace_threshold = 1e-3;
  // Leaves out voxels whose label is the background, and the background from means over classes.
  bool foreground = false;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("adaptive_bins", self.adaptive_bins, Between(1, 10000));
    field("tace_threshold", self.tace_threshold, Between(0.0, 1.0));
    field("foreground", self.foreground, Any());
  }
};

// Mean gap of the bins that hold something, (AD2).
double MeanGap(const std::vector<MassBin>& bins) {
  std::vector<double> gaps;
  for (const MassBin& bin : bins) {
    if (bin.count > 0.0) gaps.push_back(bin.Gap());
  }
  return MeanOfDefined(gaps);
}

// The groups whose confidence is above a threshold: the end of an ascending list.
std::span<const TieGroup> Above(std::span<const TieGroup> groups, double threshold) {
  const auto first = std::find_if(groups.begin(), groups.end(), [&](const TieGroup& group) {
    return group.confidence > threshold;
  });
  return groups.subspan(static_cast<size_t>(first - groups.begin()));
}

// Calibration errors with bins that follow the data, docs/methods/adaptive.md. Keeps every
// probability of every class of a case.
class AdaptiveAccumulator final : public ListedSums<AdaptiveAccumulator> {
 public:
  AdaptiveAccumulator(const MetricContext& context, const AdaptiveOptions& options)
      : options_(options),
        left_out_(options.foreground ? context.background : -1),
        labels_(left_out_),
        one_vs_rest_(static_cast<size_t>(context.num_classes)),
        predicted_(static_cast<size_t>(context.num_classes)) {}

  void Add(const EvalTile& tile) override {
    const int32_t* labels = labels_.Of(tile.labels);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      if (labels[v] == kNoLabel) continue;
      for (int64_t c = 0; c < tile.num_classes; ++c)
        one_vs_rest_[static_cast<size_t>(c)].Add(tile.probs[c * kTileVoxels + v], labels[v] == c);
      predicted_[tile.predicted[v]].Add(tile.confidence[v], labels[v] == tile.predicted[v]);
    }
  }

  static constexpr auto SumFields() {
    return std::tuple(&AdaptiveAccumulator::one_vs_rest_, &AdaptiveAccumulator::predicted_);
  }
  void MergeCase(const MetricAccumulator& whole_case) override {
    const auto& from = static_cast<const AdaptiveAccumulator&>(whole_case);
    for (size_t c = 0; c < predicted_.size(); ++c) {
      one_vs_rest_[c].MergeCase(from.one_vs_rest_[c]);
      predicted_[c].MergeCase(from.predicted_[c]);
    }
  }

  std::vector<MetricValue> Finish() const override {
    std::vector<double> adaptive, thresholded;
    for (const RankedSums& sums : one_vs_rest_) {
      const std::vector<TieGroup> groups = sums.Groups();
      adaptive.push_back(MeanGap(EqualMassBins(groups, options_.adaptive_bins)));
      const auto above = Above(groups, options_.tace_threshold);
      thresholded.push_back(MeanGap(EqualMassBins(above, options_.adaptive_bins)));
    }
    return {{"adaptive_ece", MeanOfDefined(adaptive, left_out_), adaptive},
            {"tace", MeanOfDefined(thresholded, left_out_), thresholded},
            {"adaptive_ece_s2", ByPredictedClass(), {}}};
  }

 private:
  // (AD5): percentile bins of the confidence, kept apart by predicted class.
  double ByPredictedClass() const {
    ClassGroups lists;
    for (const RankedSums& sums : predicted_) lists.push_back(sums.Groups());
    return PercentileClassGap(lists, options_.adaptive_bins);
  }

  AdaptiveOptions options_;
  int64_t left_out_;
  ForegroundLabels labels_;
  std::vector<RankedSums> one_vs_rest_;
  std::vector<RankedSums> predicted_;
};

constexpr MetricNumber kAdaptiveNumbers[] = {
    {"adaptive_ece",
     "mean gap of bins of equal mass of a class's probability, mean over classes",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"tace",
     "the same of probabilities above tace_threshold",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"adaptive_ece_s2",
     "occupancy-weighted gap of percentile bins of the confidence, by predicted class",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
};

std::unique_ptr<MetricAccumulator> MakeAdaptive(const MetricContext& context,
                                                const OptionMap& options) {
  return std::make_unique<AdaptiveAccumulator>(context,
                                               ParseOptions<AdaptiveOptions>("adaptive", options));
}

}  // namespace

extern constinit const MetricInfo kAdaptive{.name = "adaptive",
                                            .reference = "Nixon19",
                                            .numbers = kAdaptiveNumbers,
                                            .defaults = &DefaultOptions<AdaptiveOptions>,
                                            .make = &MakeAdaptive,
                                            .on_request = true,
                                            .bytes_per_voxel = [](int64_t num_classes) -> int64_t {
                                              return (num_classes + 1) * sizeof(uint32_t);
                                            }};

}  // namespace segcal
