// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "measures/calibration_options.h"
#include "measures/cells.h"
#include "measures/diagram.h"
#include "measures/foreground.h"
#include "measures/means.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

// Calibration errors of every class against the rest, docs/methods/classwise.md.
class ClasswiseAccumulator final : public ListedSums<ClasswiseAccumulator> {
 public:
  ClasswiseAccumulator(const MetricContext& context, const CalibrationOptions& options)
      : options_(options),
        left_out_(options.foreground ? context.background : -1),
        labels_(left_out_),
        sums_(CellGrid::Make({options.rule(), options.ace_rule()}), context.num_classes) {}

  void Add(const EvalTile& tile) override {
    const int32_t* labels = labels_.Of(tile.labels);
    for (int64_t c = 0; c < tile.num_classes; ++c)
      sums_.AddRow(c, tile.probs + c * kTileVoxels, static_cast<int32_t>(c), labels);
  }
  void Flush() override { sums_.Flush(); }
  static constexpr auto SumFields() { return std::tuple(&ClasswiseAccumulator::sums_); }

  std::vector<MetricValue> Finish() const override {
    std::vector<double> expected, largest, average;
    BrierParts brier;
    for (int64_t c = 0; c < sums_.num_groups(); ++c) {
      const std::vector<Bin> bins = sums_.Bins(options_.rule(), c);
      const int64_t total = sums_.Count(c);
      expected.push_back(ClassError(bins, total));
      largest.push_back(BinnedError(bins, total, Norm::kLargest));
      average.push_back(AverageError(sums_.Bins(options_.ace_rule(), c)));
      const BrierParts part = DecomposeBrier(sums_.Bins(WholeRule(), c));
      brier.reliability += part.reliability;
      brier.resolution += part.resolution;
      brier.uncertainty += part.uncertainty;
    }
    return {{"classwise_ece", MeanOfDefined(expected, left_out_), expected},
            {"classwise_ece_sum", SumOf(expected, left_out_), {}},
            {"sce", MeanOfDefined(expected), {}},
            {"classwise_mce", MeanOfDefined(largest, left_out_), largest},
            {"classwise_ace", MeanOfDefined(average, left_out_), average},
            {"brier_reliability", brier.reliability, {}},
            {"brier_resolution", brier.resolution, {}},
            {"brier_uncertainty", brier.uncertainty, {}}};
  }

  // The bins of classwise_ece.
  std::vector<Diagram> Diagrams() const override {
    const BinRule rule = options_.rule();
    std::vector<Diagram> diagrams;
    for (int64_t c = 0; c < sums_.num_groups(); ++c)
      diagrams.push_back(MakeReliabilityDiagram("one_vs_rest", c, rule, sums_.Bins(rule, c)));
    return diagrams;
  }

  std::vector<CellRow> Cells() const override {
    return MakeCellRows("one_vs_rest", sums_, sums_.num_groups());
  }

 private:
  // Where a rule leaves zeros out, a class may have voxels and all bins empty: no gap.
  double ClassError(const std::vector<Bin>& bins, int64_t total) const {
    if (TotalCount(bins) == 0 && total > 0) return 0.0;
    return BinnedError(bins, total, options_.gap_norm());
  }

  // The same bins with zeros in the first: parts of a score are of all voxels.
  BinRule WholeRule() const {
    BinRule rule = options_.rule();
    if (rule.edges == "closed_without_zero") rule.edges = "closed";
    return rule;
  }

  CalibrationOptions options_;
  int64_t left_out_;
  ForegroundLabels labels_;
  CellSums sums_;  // group: class
};

constexpr double kMaxClasses = 65536.0;

constexpr MetricNumber kClasswiseNumbers[] = {
    {"classwise_ece",
     "expected calibration error of a class's probability, mean over classes",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"classwise_ece_sum",
     "the same, summed over classes",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kMaxClasses* kJustAboveOne},
    {"sce",
     "static calibration error: classwise_ece over all classes, the background too",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"classwise_mce",
     "largest gap of a bin of a class's probability, mean over classes",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"classwise_ace",
     "mean gap of the non-empty bins of a class's probability, mean over classes",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"brier_reliability",
     "part of the Brier score that is miscalibration",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     2.0 * kJustAboveOne},
    {"brier_resolution",
     "part of the Brier score gained by telling voxels apart",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"brier_uncertainty",
     "Brier score of the class frequencies",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
};

std::unique_ptr<MetricAccumulator> MakeClasswise(const MetricContext& context,
                                                 const OptionMap& options) {
  return std::make_unique<ClasswiseAccumulator>(context,
                                                ParseCalibrationOptions("classwise", options));
}

}  // namespace

extern constinit const MetricInfo kClasswise{.name = "classwise",
                                             .reference = "Nixon19",
                                             .numbers = kClasswiseNumbers,
                                             .defaults = &DefaultOptions<CalibrationOptions>,
                                             .make = &MakeClasswise};

}  // namespace segcal
