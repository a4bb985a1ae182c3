// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "measures/foreground.h"
#include "measures/ranked.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

struct SelectionOptions {
  // A voxel whose confidence is below this is reported as a misprediction.
  double detect_below = 0.5;
  // Leaves out voxels whose label is the background.
  bool foreground = false;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("detect_below", self.detect_below, Between(0.0, 2.0));
    field("foreground", self.foreground, Any());
  }
};

// Voxels reported as mispredictions, and mispredictions.
struct Detection {
  int64_t reported = 0;
  int64_t wrong = 0;
  int64_t both = 0;

  static constexpr auto SumFields() {
    return std::tuple(&Detection::reported, &Detection::wrong, &Detection::both);
  }
  // (SL7) and (SL8); NaN where there is nothing to find, or nothing was reported.
  double Recall() const { return Ratio(both, wrong); }
  double Precision() const { return Ratio(both, reported); }

 private:
  static double Ratio(int64_t a, int64_t b) {
    return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : std::nan("");
  }
};

// The smallest float32 that is not below x.
float SmallestFrom(double x) {
  const auto nearest = static_cast<float>(x);
  return static_cast<double>(nearest) < x ? std::nextafter(nearest, HUGE_VALF) : nearest;
}

// Whether confidence tells right from wrong, docs/methods/selection.md.
class SelectionAccumulator final : public ListedSums<SelectionAccumulator> {
 public:
  SelectionAccumulator(const MetricContext& context, const SelectionOptions& options)
      : detect_below_(SmallestFrom(options.detect_below)),
        labels_(options.foreground ? context.background : -1) {}

  void Add(const EvalTile& tile) override {
    const int32_t* labels = labels_.Of(tile.labels);
    sums_.AddTile(tile.confidence, tile.predicted, labels);
    // Of 32 bits and without branches, so that the compiler makes vectors of it.
    int32_t wrong = 0;
    int32_t reported = 0;
    int32_t both = 0;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const bool labelled = labels[v] != kNoLabel;
      const bool is_wrong = labelled & (static_cast<int32_t>(tile.predicted[v]) != labels[v]);
      const bool is_reported = labelled & (tile.confidence[v] < detect_below_);
      wrong += is_wrong ? 1 : 0;
      reported += is_reported ? 1 : 0;
      both += (is_wrong & is_reported) ? 1 : 0;
    }
    detection_.wrong += wrong;
    detection_.reported += reported;
    detection_.both += both;
  }

  static constexpr auto SumFields() {
    return std::tuple(&SelectionAccumulator::sums_, &SelectionAccumulator::detection_);
  }
  void MergeCase(const MetricAccumulator& whole_case) override {
    const auto& from = static_cast<const SelectionAccumulator&>(whole_case);
    sums_.MergeCase(from.sums_);
    MergeSums(from.detection_, &detection_);
  }

  void Complete() override { sums_.Complete(); }

  std::vector<MetricValue> Finish() const override {
    const RankNumbers ranks = sums_.Numbers();
    return {{"ks_ce", ranks.ks_error, {}},
            {"auroc", ranks.auroc, {}},
            {"aupr_error", ranks.error_precision, {}},
            {"aupr_success", ranks.success_precision, {}},
            {"aurc", ranks.risk_coverage_area, {}},
            {"ece_correct", ranks.correct_error, {}},
            {"ece_wrong", ranks.wrong_error, {}},
            {"error_recall", detection_.Recall(), {}},
            {"error_precision", detection_.Precision(), {}}};
  }

  std::vector<Diagram> Diagrams() const override {
    constexpr int64_t kSteps = 100;
    Diagram diagram = EmptyDiagram(DiagramKind::kRiskCoverage);
    for (const RiskRow& row : RiskCoverage(sums_.Groups(), kSteps))
      diagram.rows.push_back({row.coverage, row.risk, row.confidence});
    return {std::move(diagram)};
  }

 private:
  float detect_below_;  // a float32 is below it where it is below the option
  ForegroundLabels labels_;
  RankedSums sums_;
  Detection detection_;
};

constexpr MetricNumber kSelectionNumbers[] = {
    {"ks_ce",
     "largest gap of confidence and accuracy summed up to any threshold; no bins",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"auroc",
     "chance that a right voxel is more confident than a wrong one",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"aupr_error",
     "average precision of finding wrong voxels by low confidence",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"aupr_success",
     "average precision of finding right voxels by high confidence",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"aurc", "area under the risk-coverage curve", Goal::kLow, Aggregate::kMeanOverCases, 0.0, 1.0},
    {"ece_correct",
     "calibration error of the right voxels alone: what their confidence lacks to 1",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"ece_wrong",
     "calibration error of the wrong voxels alone: their mean confidence",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"error_recall",
     "share of the wrong voxels whose confidence is below detect_below",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"error_precision",
     "share of wrong voxels among those whose confidence is below detect_below",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
};

std::unique_ptr<MetricAccumulator> MakeSelection(const MetricContext& context,
                                                 const OptionMap& options) {
  return std::make_unique<SelectionAccumulator>(
      context, ParseOptions<SelectionOptions>("selection", options));
}

}  // namespace

extern constinit const MetricInfo kSelection{
    .name = "selection",
    .reference = "Hendrycks17",
    .numbers = kSelectionNumbers,
    .defaults = &DefaultOptions<SelectionOptions>,
    .make = &MakeSelection,
    .bytes_per_voxel = [](int64_t) -> int64_t { return sizeof(uint32_t); }};

}  // namespace segcal
