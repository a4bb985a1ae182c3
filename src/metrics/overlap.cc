// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "measures/means.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

struct OverlapOptions {
  // Dice score of a class that is neither in the labels nor in the prediction: 1, or left out.
  std::string absent = "one";

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("absent", self.absent, OneOf({"one", "skip"}));
  }
};

// Voxels of one class: labelled, predicted, both.
struct ClassCounts {
  int64_t labelled = 0;
  int64_t predicted = 0;
  int64_t both = 0;

  bool absent() const { return labelled + predicted == 0; }
  // (O2); an absent class has no overlap to speak of: NaN.
  double Dice() const {
    return 2.0 * static_cast<double>(both) / static_cast<double>(labelled + predicted);
  }
  // (O3), NaN for an absent class.
  double Jaccard() const {
    return static_cast<double>(both) / static_cast<double>(labelled + predicted - both);
  }
};

// Overlap of prediction and labels from one confusion matrix (O1), docs/methods/overlap.md.
class OverlapAccumulator final : public ListedSums<OverlapAccumulator> {
 public:
  OverlapAccumulator(const MetricContext& context, const OverlapOptions& options)
      : num_classes_(context.num_classes),
        background_(context.background),
        absent_is_one_(options.absent == "one"),
        confusion_(static_cast<size_t>(num_classes_ * num_classes_)) {}

  void Add(const EvalTile& tile) override {
    // Neighbours mostly fall into the same cell, which would wait for itself: runs are added at
    // once.
    size_t cell = 0;
    int64_t run = 0;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const int32_t label = tile.labels[v];
      if (label == kNoLabel) continue;
      const size_t here = Cell(label, tile.predicted[v]);
      if (here != cell) {
        confusion_[cell] += run;
        cell = here;
        run = 0;
      }
      ++run;
    }
    confusion_[cell] += run;
  }

  static constexpr auto SumFields() { return std::tuple(&OverlapAccumulator::confusion_); }

  std::vector<MetricValue> Finish() const override {
    const std::vector<ClassCounts> counts = CountClasses();
    int64_t total = 0;
    for (const ClassCounts& c : counts) total += c.labelled;
    // Without a labelled voxel nothing is defined: an empty case must not count as a perfect one.
    const double absent_dice = absent_is_one_ && total > 0 ? 1.0 : std::nan("");
    std::vector<double> dice;
    std::vector<double> jaccard;
    for (const ClassCounts& c : counts) {
      dice.push_back(c.absent() ? absent_dice : c.Dice());
      jaccard.push_back(c.Jaccard());
    }
    return {{"dsc", MeanOfDefined(dice, background_), dice},
            {"miou", MeanOfDefined(jaccard), jaccard}};
  }

  std::vector<Diagram> Diagrams() const override {
    Diagram diagram = EmptyDiagram(DiagramKind::kConfusion, num_classes_);
    for (int64_t label = 0; label < num_classes_; ++label) {
      std::vector<double>& row = diagram.rows.emplace_back();
      for (int64_t predicted = 0; predicted < num_classes_; ++predicted)
        row.push_back(static_cast<double>(confusion_[Cell(label, predicted)]));
    }
    return {std::move(diagram)};
  }

 private:
  size_t Cell(int64_t label, int64_t predicted) const {
    return static_cast<size_t>(label * num_classes_ + predicted);
  }

  std::vector<ClassCounts> CountClasses() const {
    std::vector<ClassCounts> counts(static_cast<size_t>(num_classes_));
    for (int64_t label = 0; label < num_classes_; ++label) {
      for (int64_t predicted = 0; predicted < num_classes_; ++predicted) {
        const int64_t n = confusion_[Cell(label, predicted)];
        counts[static_cast<size_t>(label)].labelled += n;
        counts[static_cast<size_t>(predicted)].predicted += n;
        if (label == predicted) counts[static_cast<size_t>(label)].both += n;
      }
    }
    return counts;
  }

  int64_t num_classes_;
  int64_t background_;
  bool absent_is_one_;
  std::vector<int64_t> confusion_;  // [label][predicted]
};

constexpr MetricNumber kOverlapNumbers[] = {
    {"dsc",
     "Dice score, mean over the classes but the background",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0,
     nullptr,
     DependsOn::kPredictedClass},
    {"miou",
     "intersection over union, mean over the classes present in labels or prediction",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0,
     nullptr,
     DependsOn::kPredictedClass},
};

std::unique_ptr<MetricAccumulator> MakeOverlap(const MetricContext& context,
                                               const OptionMap& options) {
  return std::make_unique<OverlapAccumulator>(context,
                                              ParseOptions<OverlapOptions>("overlap", options));
}

}  // namespace

extern constinit const MetricInfo kOverlap{.name = "overlap",
                                           .reference = "Dice45",
                                           .numbers = kOverlapNumbers,
                                           .defaults = &DefaultOptions<OverlapOptions>,
                                           .make = &MakeOverlap};

}  // namespace segcal
