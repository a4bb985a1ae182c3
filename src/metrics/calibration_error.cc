// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "measures/calibration_options.h"
#include "measures/cells.h"
#include "measures/diagram.h"
#include "measures/foreground.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

// Top-label calibration errors, docs/methods/calibration_error.md: confidences in cells, by
// predicted class.
class CalibrationErrorAccumulator final : public ListedSums<CalibrationErrorAccumulator> {
 public:
  CalibrationErrorAccumulator(const MetricContext& context, const CalibrationOptions& options)
      : options_(options),
        labels_(options.foreground ? context.background : -1),
        sums_(CellGrid::Make({options.rule(), options.ace_rule()}), context.num_classes) {}

  void Add(const EvalTile& tile) override {
    sums_.AddTopLabel(tile.confidence, tile.predicted, labels_.Of(tile.labels));
  }
  void Flush() override { sums_.Flush(); }
  static constexpr auto SumFields() { return std::tuple(&CalibrationErrorAccumulator::sums_); }

  std::vector<MetricValue> Finish() const override {
    const std::vector<Bin> bins = sums_.Bins(options_.rule());
    const int64_t total = sums_.Count();
    return {{"ece", BinnedError(bins, total, options_.gap_norm()), {}},
            {"mce", BinnedError(bins, total, Norm::kLargest), {}},
            {"ace", AverageError(sums_.Bins(options_.ace_rule())), {}},
            {"rms_ce", BinnedError(bins, total, Norm::kRootMeanSquare), {}},
            {"debiased_ece", DebiasedError(bins, total), {}},
            ByPredictedClass(total)};
  }

  // The bins of ece: of all voxels, then by predicted class.
  std::vector<Diagram> Diagrams() const override {
    const BinRule rule = options_.rule();
    std::vector<Diagram> diagrams = {
        MakeReliabilityDiagram("top_label", -1, rule, sums_.Bins(rule))};
    for (int64_t c = 0; c < sums_.num_groups(); ++c)
      diagrams.push_back(MakeReliabilityDiagram("predicted", c, rule, sums_.Bins(rule, c)));
    return diagrams;
  }

  std::vector<Diagram> PooledBins() const override {
    const BinRule rule = options_.ace_rule();
    return {MakeReliabilityDiagram("ace", -1, rule, sums_.Bins(rule))};
  }

  std::vector<CellRow> Cells() const override {
    return MakeCellRows("predicted", sums_, sums_.num_groups());
  }

 private:
  // (E9): gaps of the bins of every predicted class, weighted by their share of all voxels.
  MetricValue ByPredictedClass(int64_t total) const {
    MetricValue number{.name = "sce_s2", .value = 0.0, .per_class = {}};
    for (int64_t c = 0; c < sums_.num_groups(); ++c) {
      const std::vector<Bin> bins = sums_.Bins(options_.rule(), c);
      const double share = BinnedError(bins, total, Norm::kMean);
      number.per_class.push_back(share);
      // A class that is never predicted has no gap to add.
      if (!std::isnan(share)) number.value += share;
    }
    if (total == 0) number.value = std::nan("");
    return number;
  }

  CalibrationOptions options_;
  ForegroundLabels labels_;
  CellSums sums_;
};

constexpr MetricNumber kCalibrationErrorNumbers[] = {
    {"ece",
     "expected calibration error: occupancy-weighted gap of confidence and accuracy",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"mce",
     "maximum calibration error: the largest gap of a bin",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"ace",
     "average calibration error: mean gap of the non-empty bins, voxels of all cases pooled",
     Goal::kLow,
     Aggregate::kPooled,
     0.0,
     kJustAboveOne,
     &AverageError},
    {"rms_ce",
     "root of the occupancy-weighted mean squared gap",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"debiased_ece",
     "rms_ce without what chance alone adds to the squared gaps",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"sce_s2",
     "ece with bins kept apart by predicted class",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
};

std::unique_ptr<MetricAccumulator> MakeCalibrationErrors(const MetricContext& context,
                                                         const OptionMap& options) {
  return std::make_unique<CalibrationErrorAccumulator>(
      context, ParseCalibrationOptions("calibration_error", options));
}

}  // namespace

extern constinit const MetricInfo kCalibrationErrors{
    .name = "calibration_error",
    .reference = "Naeini15",
    .numbers = kCalibrationErrorNumbers,
    .defaults = &DefaultOptions<CalibrationOptions>,
    .make = &MakeCalibrationErrors};

}  // namespace segcal
