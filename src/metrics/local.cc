// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/exact_sum.h"
#include "measures/cells.h"
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

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("local_bins", self.local_bins, Between(1, 10000));
    field("local_edges", self.local_edges, OneOf(EdgeNames()));
    field("patch", self.patch, AtLeast(1));
    field("patches", self.patches, Between(1, 1000));
    field("patch_seed", self.patch_seed, AtLeast(0));
  }

  BinRule rule() const { return {local_bins, local_edges}; }
};

// Mean of the defined values; NaN if there is none.
struct ExactMean {
  ExactSum sum;
  int64_t count = 0;

  void Add(double value) {
    if (std::isnan(value)) return;
    sum.Add(value);
    ++count;
  }
  void Merge(const ExactMean& other) {
    sum.Merge(other.sum);
    count += other.count;
  }
  double value() const { return sum.value() / static_cast<double>(count); }
};

// The numbers of a case, or their means over cases.
struct LocalMeans {
  ExactMean ece_avg;
  ExactMean ece_max;
  ExactMean mce_avg;
  ExactMean mce_max;

  void Merge(const LocalMeans& other) {
    ece_avg.Merge(other.ece_avg);
    ece_max.Merge(other.ece_max);
    mce_avg.Merge(other.mce_avg);
    mce_max.Merge(other.mce_max);
  }
};

// Calibration errors of random patches, docs/methods/local.md. Patches are about one image: of
// several cases together, numbers are means over cases.
class LocalAccumulator final : public MetricAccumulator {
 public:
  LocalAccumulator(const MetricContext& context, const LocalOptions& options)
      : options_(options),
        grid_(context.grid),
        patches_(LocalPatches(grid_,
                              options.patch,
                              options.patches,
                              static_cast<uint64_t>(options.patch_seed),
                              /*stream=*/0)),
        sums_(CellGrid::Make({options.rule()}), options.patches) {}

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

  void Merge(const MetricAccumulator& other) override {
    const auto& from = static_cast<const LocalAccumulator&>(other);
    sums_.Merge(from.sums_);
    cases_.Merge(from.cases_);
    pooled_ = pooled_ || from.pooled_;
  }
  void MergeCase(const MetricAccumulator& whole_case) override {
    cases_.Merge(static_cast<const LocalAccumulator&>(whole_case).Means());
    pooled_ = true;
  }

  std::vector<MetricValue> Finish() const override {
    const LocalMeans means = Means();
    return {{"ece_local_avg", means.ece_avg.value(), {}},
            {"ece_local_max", means.ece_max.value(), {}},
            {"mce_local_avg", means.mce_avg.value(), {}},
            {"mce_local_max", means.mce_max.value(), {}}};
  }

 private:
  // The means of the cases so far, or the numbers of the one case that is being added.
  LocalMeans Means() const {
    if (pooled_) return cases_;
    LocalMeans means;
    AddPatches(Norm::kMean, &means.ece_avg, &means.ece_max);
    AddPatches(Norm::kLargest, &means.mce_avg, &means.mce_max);
    return means;
  }

  void AddPatches(Norm norm, ExactMean* average, ExactMean* worst) const {
    ExactMean mean;
    double largest = std::nan("");
    for (int64_t k = 0; k < options_.patches; ++k) {
      const double error = BinnedError(sums_.Bins(options_.rule(), k), sums_.Count(k), norm);
      mean.Add(error);
      largest = std::fmax(largest, error);
    }
    average->Add(mean.value());
    worst->Add(largest);
  }

  LocalOptions options_;
  VoxelGrid grid_;
  std::vector<VoxelBox> patches_;
  CellSums sums_;  // by patch
  LocalMeans cases_;
  bool pooled_ = false;
};

// A confidence may pass 1 by one unit in the last place of float32, and a gap with it.
constexpr double kOne = 1.0 + 0x1p-22;

constexpr MetricNumber kNumbers[] = {
    {"ece_local_avg",
     "ece of random patches, mean over patches",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kOne},
    {"ece_local_max",
     "ece of random patches, the worst patch",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kOne},
    {"mce_local_avg",
     "mce of random patches, mean over patches",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kOne},
    {"mce_local_max",
     "mce of random patches, the worst patch",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kOne},
};

std::unique_ptr<MetricAccumulator> MakeLocal(const MetricContext& context,
                                             const OptionMap& options) {
  return std::make_unique<LocalAccumulator>(context, ParseOptions<LocalOptions>("local", options));
}

}  // namespace

extern constinit const MetricInfo kLocal{.name = "local",
                                         .reference = "Ding21",
                                         .numbers = kNumbers,
                                         .defaults = &DefaultOptions<LocalOptions>,
                                         .make = &MakeLocal,
                                         .on_request = true};

}  // namespace segcal
