// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <sstream>

#include "measures/cells.h"
#include "measures/diagram.h"
#include "measures/exact_mean.h"
#include "metrics/metric.h"
#include "spatial/regions.h"

namespace segcal {
namespace {

struct LocalOptions {
  // Ding21 uses 10.
  int64_t local_bins = 10;
  std::string local_edges = "closed";
  // Side of a patch in voxels, how many there are, and what places them.
  int64_t patch = 72;
  int64_t patches = 10;
  int64_t patch_seed = 0;
  // Further sides to measure in the same pass: "8,16,32".
  std::string patch_sweep;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("local_bins", self.local_bins, Between(1, 10000));
    field("local_edges", self.local_edges, OneOf(EdgeNames()));
    field("patch", self.patch, AtLeast(1));
    field("patches", self.patches, Between(1, 1000));
    field("patch_seed", self.patch_seed, AtLeast(0));
    field("patch_sweep", self.patch_sweep, Any());
  }

  BinRule rule() const { return {local_bins, local_edges}; }
  // `patch`, then those of the sweep.
  std::vector<int64_t> Sides() const {
    std::vector<int64_t> sides = {patch};
    std::istringstream list(patch_sweep);
    for (std::string text; std::getline(list, text, ',');)
      ParseField("local: patch_sweep", text, AtLeast(1), &sides.emplace_back());
    return sides;
  }
};

// The numbers of a case, or their means over cases.
struct LocalMeans {
  ExactMean ece_avg;
  ExactMean ece_max;
  ExactMean mce_avg;
  ExactMean mce_max;

  static constexpr auto SumFields() {
    using L = LocalMeans;
    return std::tuple(&L::ece_avg, &L::ece_max, &L::mce_avg, &L::mce_max);
  }
};

// Bins of diagrams: of all patches, and of the worst patch of each case.
struct PatchBins {
  std::vector<Bin> all;
  std::vector<Bin> worst;

  static constexpr auto SumFields() { return std::tuple(&PatchBins::all, &PatchBins::worst); }
};

// Calibration errors of random patches, docs/methods/local.md. Patches are about one image: of
// several cases together, numbers are means over cases.
class LocalAccumulator final : public ListedSums<LocalAccumulator> {
 public:
  LocalAccumulator(const MetricContext& context, const LocalOptions& options)
      : options_(options),
        sides_(options.Sides()),
        grid_(context.grid),
        patches_(Patches()),
        sums_(CellGrid::Make({options.rule()}), static_cast<int64_t>(patches_.size())),
        cases_(sides_.size()),
        case_bins_(EmptyBins()) {}

  void Add(const EvalTile& tile) override {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      const int64_t voxel = tile.first_voxel + v;
      const int64_t z = voxel / grid_.stride(0);
      const int64_t y = voxel / grid_.stride(1) % grid_.size[1];
      const int64_t x = voxel % grid_.size[2];
      for (size_t k = 0; k < patches_.size(); ++k) {
        if (!patches_[k].Holds(z, y, x)) continue;
        sums_.Add(static_cast<int64_t>(k), tile.confidence[v], tile.labels[v] == tile.predicted[v]);
      }
    }
  }
  void Flush() override { sums_.Flush(); }

  static constexpr auto SumFields() {
    using L = LocalAccumulator;
    return std::tuple(&L::sums_, &L::cases_, &L::case_bins_, &L::pooled_);
  }
  void MergeCase(const MetricAccumulator& whole_case) override {
    const auto& from = static_cast<const LocalAccumulator&>(whole_case);
    MergeSums(from.Means(), &cases_);
    MergeSums(from.Bins(), &case_bins_);
    pooled_ = true;
  }

  std::vector<MetricValue> Finish() const override {
    const LocalMeans means = Means()[0];
    return {{"ece_local_avg", means.ece_avg.value(), {}},
            {"ece_local_max", means.ece_max.value(), {}},
            {"mce_local_avg", means.mce_avg.value(), {}},
            {"mce_local_max", means.mce_max.value(), {}}};
  }

  std::vector<Diagram> Diagrams() const override {
    const PatchBins bins = Bins();
    const BinRule rule = options_.rule();
    std::vector<Diagram> diagrams = {MakeReliabilityDiagram("local_avg", -1, rule, bins.all),
                                     MakeReliabilityDiagram("local_max", -1, rule, bins.worst)};
    if (sides_.size() > 1) diagrams.push_back(Sweep());
    return diagrams;
  }

 private:
  // Calibration errors of random patches of further sides.
  Diagram Sweep() const {
    Diagram sweep = EmptyDiagram(DiagramKind::kPatchSweep);
    const std::vector<LocalMeans> means = Means();
    for (size_t i = 1; i < sides_.size(); ++i) {
      sweep.rows.push_back({static_cast<double>(sides_[i]),
                            means[i].ece_avg.value(),
                            means[i].ece_max.value(),
                            means[i].mce_avg.value(),
                            means[i].mce_max.value()});
    }
    return sweep;
  }

  // Those of the first side, then those of the next.
  std::vector<VoxelBox> Patches() const {
    std::vector<VoxelBox> patches;
    for (const int64_t side : sides_) {
      const std::vector<VoxelBox> some = LocalPatches(grid_,
                                                      side,
                                                      options_.patches,
                                                      static_cast<uint64_t>(options_.patch_seed),
                                                      /*stream=*/0);
      patches.insert(patches.end(), some.begin(), some.end());
    }
    return patches;
  }

  PatchBins EmptyBins() const {
    const std::vector<Bin> empty(BinStarts(options_.rule()).size());
    return {.all = empty, .worst = empty};
  }

  double PatchError(int64_t patch, Norm norm) const {
    return BinnedError(sums_.Bins(options_.rule(), patch), sums_.Count(patch), norm);
  }

  // By side: the means of the cases so far, or the numbers of the one case that is being added.
  std::vector<LocalMeans> Means() const {
    if (pooled_) return cases_;
    std::vector<LocalMeans> means(sides_.size());
    for (size_t i = 0; i < means.size(); ++i) {
      const int64_t first = static_cast<int64_t>(i) * options_.patches;
      AddPatches(first, Norm::kMean, &means[i].ece_avg, &means[i].ece_max);
      AddPatches(first, Norm::kLargest, &means[i].mce_avg, &means[i].mce_max);
    }
    return means;
  }

  void AddPatches(int64_t first, Norm norm, ExactMean* average, ExactMean* worst) const {
    ExactMean mean;
    double largest = std::nan("");
    for (int64_t k = first; k < first + options_.patches; ++k) {
      const double error = PatchError(k, norm);
      mean.Add(error);
      largest = std::fmax(largest, error);
    }
    average->Add(mean.value());
    worst->Add(largest);
  }

  // Of the first side; of the cases so far, or the one case that is being added.
  PatchBins Bins() const {
    if (pooled_) return case_bins_;
    PatchBins bins = EmptyBins();
    int64_t worst = -1;
    for (int64_t k = 0; k < options_.patches; ++k) {
      MergeSums(sums_.Bins(options_.rule(), k), &bins.all);
      const double error = PatchError(k, Norm::kMean);
      if (worst < 0 ? !std::isnan(error) : error > PatchError(worst, Norm::kMean)) worst = k;
    }
    if (worst >= 0) MergeSums(sums_.Bins(options_.rule(), worst), &bins.worst);
    return bins;
  }

  LocalOptions options_;
  std::vector<int64_t> sides_;
  VoxelGrid grid_;
  std::vector<VoxelBox> patches_;  // by side
  CellSums sums_;                  // by patch
  std::vector<LocalMeans> cases_;  // by side
  PatchBins case_bins_;
  bool pooled_ = false;
};

constexpr MetricNumber kLocalNumbers[] = {
    {"ece_local_avg",
     "ece of random patches, mean over patches",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"ece_local_max",
     "ece of random patches, the worst patch",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"mce_local_avg",
     "mce of random patches, mean over patches",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"mce_local_max",
     "mce of random patches, the worst patch",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
};

std::unique_ptr<MetricAccumulator> MakeLocal(const MetricContext& context,
                                             const OptionMap& options) {
  return std::make_unique<LocalAccumulator>(context, ParseOptions<LocalOptions>("local", options));
}

}  // namespace

extern constinit const MetricInfo kLocal{.name = "local",
                                         .reference = "Ding21",
                                         .numbers = kLocalNumbers,
                                         .defaults = &DefaultOptions<LocalOptions>,
                                         .make = &MakeLocal,
                                         .on_request = true};

}  // namespace segcal
