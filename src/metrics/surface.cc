// SPDX-License-Identifier: Apache-2.0
#include "spatial/surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/exact_sum.h"
#include "measures/means.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

struct SurfaceOptions {
  // How far two surfaces may lie apart and still count as equal, in units of
  // the spacing.
  double tolerance = 1.0;
  // Dice-like numbers of a class in neither labels nor prediction: 1, or left
  // out.
  std::string absent = "one";
  // Distances of a class in one of the two only: the diagonal of the image, or
  // left out.
  std::string missing = "diagonal";

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("tolerance", self.tolerance, AtLeast(0.0));
    field("absent", self.absent, OneOf({"one", "skip"}));
    field("missing", self.missing, OneOf({"diagonal", "skip"}));
  }
};

constexpr size_t kNumScores = 6;
using ClassScores = std::array<double, kNumScores>;

// Up to kTileVoxels consecutive voxels of a case.
struct Run {
  int64_t first_voxel = 0;
  std::array<int32_t, kTileVoxels> labels;
  std::array<uint16_t, kTileVoxels> predicted;
};

// Distances between surfaces, docs/methods/surface.md. Keeps labels and
// prediction of a case until it is complete; of several cases together, numbers
// are means over cases.
class SurfaceAccumulator final : public MetricAccumulator {
 public:
  SurfaceAccumulator(const MetricContext& context, const SurfaceOptions& options)
      : options_(options),
        num_classes_(context.num_classes),
        background_(context.background),
        grid_(context.grid),
        totals_(static_cast<size_t>(num_classes_)) {}

  void Add(const EvalTile& tile) override {
    Run& run = runs_.emplace_back();
    run.first_voxel = tile.first_voxel;
    std::copy_n(tile.labels, kTileVoxels, run.labels.begin());
    std::copy_n(tile.predicted, kTileVoxels, run.predicted.begin());
  }

  void Merge(const MetricAccumulator& other) override {
    const auto& from = static_cast<const SurfaceAccumulator&>(other);
    // By index and reserved: `other` may be *this.
    const size_t size = from.runs_.size();
    runs_.reserve(runs_.size() + size);
    for (size_t i = 0; i < size; ++i) runs_.push_back(from.runs_[i]);
    AddTotals(from.totals_);
  }
  void MergeCase(const MetricAccumulator& whole_case) override {
    AddTotals(static_cast<const SurfaceAccumulator&>(whole_case).CompleteTotals());
  }
  void Complete() override {
    totals_ = CompleteTotals();
    runs_.clear();
  }

  std::vector<MetricValue> Finish() const override {
    const Totals totals = CompleteTotals();
    std::vector<MetricValue> numbers;
    for (size_t k = 0; k < kNumScores; ++k) {
      MetricValue number{.name = kNames[k], .value = 0.0, .per_class = {}};
      for (const auto& scores : totals) number.per_class.push_back(scores[k].value());
      number.value = MeanOfDefined(number.per_class, background_);
      numbers.push_back(std::move(number));
    }
    return numbers;
  }

  static constexpr std::array<const char*, kNumScores> kNames = {
      "asd", "hd", "hd95", "md95", "nsd", "surface_dice"};

 private:
  // One score of one class over cases.
  struct ScoreMean {
    ExactSum sum;
    int64_t count = 0;

    double value() const { return sum.value() / static_cast<double>(count); }
  };
  using Totals = std::vector<std::array<ScoreMean, kNumScores>>;

  static void AddScore(double score, ScoreMean* mean) {
    if (std::isnan(score)) return;
    mean->sum.Add(score);
    ++mean->count;
  }

  void AddTotals(const Totals& other) {
    for (size_t c = 0; c < totals_.size(); ++c) {
      for (size_t k = 0; k < kNumScores; ++k) {
        totals_[c][k].sum.Merge(other[c][k].sum);
        totals_[c][k].count += other[c][k].count;
      }
    }
  }

  // The totals with the case whose voxels are here.
  Totals CompleteTotals() const {
    Totals totals = totals_;
    if (runs_.empty()) return totals;
    std::vector<int32_t> labels(static_cast<size_t>(grid_.num_voxels()), kNoLabel);
    std::vector<uint16_t> predicted(labels.size());
    for (const Run& run : runs_) {
      const auto first = static_cast<size_t>(run.first_voxel);
      const size_t count = std::min<size_t>(kTileVoxels, labels.size() - first);
      std::copy_n(run.labels.begin(), count, labels.begin() + run.first_voxel);
      std::copy_n(run.predicted.begin(), count, predicted.begin() + run.first_voxel);
    }
    const std::vector<SurfaceScores> scores = ScoreSurfaces(
        grid_, labels, predicted, num_classes_, options_.tolerance, /*num_threads=*/1);
    // Without a labelled voxel nothing is defined: an empty case must not count
    // as a perfect one.
    const bool any = std::any_of(
        scores.begin(), scores.end(), [](const SurfaceScores& s) { return s.labelled; });
    for (size_t c = 0; any && c < scores.size(); ++c) {
      const ClassScores values = ClassValues(scores[c]);
      for (size_t k = 0; k < kNumScores; ++k) AddScore(values[k], &totals[c][k]);
    }
    return totals;
  }

  // In the order of kNames, with what is said of absent and missing classes.
  ClassScores ClassValues(const SurfaceScores& s) const {
    const double nan = std::nan("");
    if (!s.labelled && !s.predicted) {
      const double dice = options_.absent == "one" ? 1.0 : nan;
      return {nan, nan, nan, nan, dice, dice};
    }
    if (!s.labelled || !s.predicted) {
      const double far = options_.missing == "diagonal" ? grid_.Diagonal() : nan;
      return {far, far, far, far, 0.0, 0.0};
    }
    return {s.mean_distance, s.hausdorff, s.hausdorff95, s.volume95, s.surface_dice, s.band_dice};
  }

  SurfaceOptions options_;
  int64_t num_classes_;
  int64_t background_;
  VoxelGrid grid_;
  std::vector<Run> runs_;
  Totals totals_;
};

constexpr double kFar = std::numeric_limits<double>::infinity();

constexpr MetricNumber kSurfaceNumbers[] = {
    {"asd",
     "average symmetric surface distance, mean over the classes but the "
     "background",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kFar},
    {"hd", "Hausdorff distance of the surfaces", Goal::kLow, Aggregate::kMeanOverCases, 0.0, kFar},
    {"hd95",
     "95 % quantile of the surface distances, the larger of both directions",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kFar},
    {"md95",
     "95 % quantile of the distances of the voxels of either volume to the "
     "other",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kFar},
    {"nsd",
     "share of the surfaces that lies within the tolerance of the other",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"surface_dice",
     "Dice score of the surfaces thickened by the tolerance",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
};

std::unique_ptr<MetricAccumulator> MakeSurface(const MetricContext& context,
                                               const OptionMap& options) {
  return std::make_unique<SurfaceAccumulator>(context,
                                              ParseOptions<SurfaceOptions>("surface", options));
}

}  // namespace

extern constinit const MetricInfo kSurface{
    .name = "surface",
    .reference = "Ding21",
    .numbers = kSurfaceNumbers,
    .defaults = &DefaultOptions<SurfaceOptions>,
    .make = &MakeSurface,
    .on_request = true,
    .bytes_per_voxel = [](int64_t) -> int64_t { return sizeof(int32_t) + sizeof(uint16_t); }};

}  // namespace segcal
