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

// Runs of a case in the order in which they came, which nothing depends on.
struct Runs {
  std::vector<Run> list;

  void Merge(const Runs& other) {
    // By index and reserved: `other` may be *this.
    const size_t size = other.list.size();
    list.reserve(list.size() + size);
    for (size_t i = 0; i < size; ++i) list.push_back(other.list[i]);
  }
  void Pack(SumWriter* out) const {
    std::vector<const Run*> sorted;
    for (const Run& run : list) sorted.push_back(&run);
    std::sort(sorted.begin(), sorted.end(), [](const Run* a, const Run* b) {
      return a->first_voxel < b->first_voxel;
    });
    out->Put(static_cast<int64_t>(sorted.size()));
    for (const Run* run : sorted) {
      out->Put(run->first_voxel);
      for (const int32_t label : run->labels) out->Put(label);
      for (const uint16_t predicted : run->predicted) out->Put(predicted);
    }
  }
  void Unpack(SumReader* in) {
    list.clear();
    for (int64_t left = in->TakeCount(); left > 0; --left) {
      Run& run = list.emplace_back();
      run.first_voxel = in->Take<int64_t>();
      for (int32_t& label : run.labels) label = in->Take<int32_t>();
      for (uint16_t& predicted : run.predicted) predicted = in->Take<uint16_t>();
    }
  }
};

// Distances between surfaces, docs/methods/surface.md. Keeps labels and
// prediction of a case until it is complete; of several cases together, numbers
// are means over cases.
class SurfaceAccumulator final : public ListedSums<SurfaceAccumulator> {
 public:
  SurfaceAccumulator(const MetricContext& context, const SurfaceOptions& options)
      : options_(options),
        num_classes_(context.num_classes),
        background_(context.background),
        grid_(context.grid),
        totals_(static_cast<size_t>(num_classes_)) {}

  void Add(const EvalTile& tile) override {
    Run& run = runs_.list.emplace_back();
    run.first_voxel = tile.first_voxel;
    std::copy_n(tile.labels, kTileVoxels, run.labels.begin());
    std::copy_n(tile.predicted, kTileVoxels, run.predicted.begin());
  }

  static constexpr auto SumFields() {
    return std::tuple(&SurfaceAccumulator::runs_, &SurfaceAccumulator::totals_);
  }
  void MergeCase(const MetricAccumulator& whole_case) override {
    MergeSums(static_cast<const SurfaceAccumulator&>(whole_case).CompleteTotals(), &totals_);
  }
  void Complete() override {
    totals_ = CompleteTotals();
    runs_.list.clear();
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

    static constexpr auto SumFields() { return std::tuple(&ScoreMean::sum, &ScoreMean::count); }
    double value() const { return sum.value() / static_cast<double>(count); }
  };
  using Totals = std::vector<std::array<ScoreMean, kNumScores>>;

  static void AddScore(double score, ScoreMean* mean) {
    if (std::isnan(score)) return;
    mean->sum.Add(score);
    ++mean->count;
  }

  // The totals with the case whose voxels are here.
  Totals CompleteTotals() const {
    Totals totals = totals_;
    if (runs_.list.empty()) return totals;
    std::vector<int32_t> labels(static_cast<size_t>(grid_.num_voxels()), kNoLabel);
    std::vector<uint16_t> predicted(labels.size());
    for (const Run& run : runs_.list) {
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
  Runs runs_;
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
     kFar,
     nullptr,
     DependsOn::kPredictedClass},
    {"hd",
     "Hausdorff distance of the surfaces",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kFar,
     nullptr,
     DependsOn::kPredictedClass},
    {"hd95",
     "95 % quantile of the surface distances, the larger of both directions",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kFar,
     nullptr,
     DependsOn::kPredictedClass},
    {"md95",
     "95 % quantile of the distances of the voxels of either volume to the "
     "other",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kFar,
     nullptr,
     DependsOn::kPredictedClass},
    {"nsd",
     "share of the surfaces that lies within the tolerance of the other",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0,
     nullptr,
     DependsOn::kPredictedClass},
    {"surface_dice",
     "Dice score of the surfaces thickened by the tolerance",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0,
     nullptr,
     DependsOn::kPredictedClass},
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
