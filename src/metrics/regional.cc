// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "measures/class_gaps.h"
#include "measures/exact_mean.h"
#include "metrics/metric.h"
#include "spatial/regions.h"

namespace segcal {
namespace {

struct RegionalOptions {
  // Ding21 uses 10, of equal width and of equal mass.
  int64_t regional_bins = 10;
  // What stands in its tables, as its code computes it (by predicted class), or as F.5 and F.6
  // print it (by label, divided by the number of labels).
  std::string regional_form = "code";
  // Patches, the same as those of the family local.
  int64_t patch = 72;
  int64_t patches = 10;
  int64_t patch_seed = 0;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("regional_bins", self.regional_bins, Between(1, 10000));
    field("regional_form", self.regional_form, OneOf({"code", "printed"}));
    field("patch", self.patch, AtLeast(1));
    field("patches", self.patches, Between(1, 1000));
    field("patch_seed", self.patch_seed, AtLeast(0));
  }
};

// A static and an adaptive calibration error of the same voxels.
struct ClassErrors {
  double sce = 0.0;
  double adaptive = 0.0;
};

// (RS1), (RS2): of voxels by label.
ClassErrors PrintedErrors(const ClassGroups& by_label, int64_t bins) {
  return {.sce = EqualWidthClassGap(by_label, bins) / static_cast<double>(by_label.size()),
          .adaptive = EqualMassClassGap(by_label, bins)};
}

// (E9), (AD5): of voxels by predicted class.
ClassErrors CodeErrors(const ClassGroups& by_prediction, int64_t bins) {
  return {.sce = EqualWidthClassGap(by_prediction, bins),
          .adaptive = PercentileClassGap(by_prediction, bins)};
}

// Errors of the patches of a case, or their means over cases.
struct PatchErrors {
  ExactMean sce_avg;
  ExactMean sce_max;
  ExactMean adaptive_avg;
  ExactMean adaptive_max;

  static constexpr auto SumFields() {
    using P = PatchErrors;
    return std::tuple(&P::sce_avg, &P::sce_max, &P::adaptive_avg, &P::adaptive_max);
  }
};

// Groups of voxels: the region All in two parts, then the patches.
enum PlaceGroup : int64_t { kNearBoundary, kInside, kFirstPatch };

// Static and adaptive errors in the regions of Ding21, docs/methods/regional.md. Keeps the
// confidence of every voxel, and once more for every patch that holds it.
class RegionalAccumulator final : public ListedSums<RegionalAccumulator> {
 public:
  RegionalAccumulator(const MetricContext& context, const RegionalOptions& options)
      : options_(options),
        num_classes_(context.num_classes),
        background_(context.background),
        grid_(context.grid),
        patches_(LocalPatches(grid_,
                              options.patch,
                              options.patches,
                              static_cast<uint64_t>(options.patch_seed),
                              /*stream=*/0)),
        by_label_(static_cast<size_t>(num_classes_)),
        by_place_(static_cast<size_t>((kFirstPatch + options.patches) * num_classes_)) {}

  void Add(const EvalTile& tile) override {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const int32_t label = tile.labels[v];
      if (label == kNoLabel) continue;
      const bool correct = label == tile.predicted[v];
      by_label_[static_cast<size_t>(label)].Add(tile.confidence[v], correct);
      const int64_t c = is_printed() ? label : tile.predicted[v];
      const auto add = [&](int64_t place) { At(place, c).Add(tile.confidence[v], correct); };
      if (InAllRegion(label, tile.squared_distance[v], background_))
        add(InBoundaryRegion(tile.squared_distance[v]) ? kNearBoundary : kInside);
      AddToPatches(tile.first_voxel + v, add);
    }
  }

  static constexpr auto SumFields() {
    using R = RegionalAccumulator;
    return std::tuple(&R::by_label_, &R::by_place_, &R::cases_, &R::pooled_);
  }
  // Patches are about one image: of several cases, means over cases.
  void MergeCase(const MetricAccumulator& whole_case) override {
    const auto& from = static_cast<const RegionalAccumulator&>(whole_case);
    for (size_t c = 0; c < by_label_.size(); ++c) by_label_[c].MergeCase(from.by_label_[c]);
    for (size_t i = 0; i < static_cast<size_t>(kFirstPatch * num_classes_); ++i)
      by_place_[i].MergeCase(from.by_place_[i]);
    MergeSums(from.OfPatches(), &cases_);
    pooled_ = true;
  }

  void Complete() override {
    for (RankedSums& sums : by_label_) sums.Complete();
    for (RankedSums& sums : by_place_) sums.Complete();
  }

  std::vector<MetricValue> Finish() const override {
    ClassGroups by_label;
    for (const RankedSums& sums : by_label_) by_label.push_back(sums.Groups());
    const ClassErrors whole = PrintedErrors(by_label, options_.regional_bins);
    const ClassErrors boundary = Errors({kNearBoundary});
    const ClassErrors all = Errors({kNearBoundary, kInside});
    const PatchErrors patches = OfPatches();
    return {{"sce_f5", whole.sce, {}},
            {"adaptive_ece_f6", whole.adaptive, {}},
            {"sce_all", all.sce, {}},
            {"sce_boundary", boundary.sce, {}},
            {"sce_local_avg", patches.sce_avg.value(), {}},
            {"sce_local_max", patches.sce_max.value(), {}},
            {"adaptive_all", all.adaptive, {}},
            {"adaptive_boundary", boundary.adaptive, {}},
            {"adaptive_local_avg", patches.adaptive_avg.value(), {}},
            {"adaptive_local_max", patches.adaptive_max.value(), {}}};
  }

 private:
  bool is_printed() const { return options_.regional_form == "printed"; }
  RankedSums& At(int64_t place, int64_t c) {
    return by_place_[static_cast<size_t>(place * num_classes_ + c)];
  }

  template <class AddToPlace>
  void AddToPatches(int64_t voxel, const AddToPlace& add) {
    const int64_t z = voxel / grid_.stride(0);
    const int64_t y = voxel / grid_.stride(1) % grid_.size[1];
    const int64_t x = voxel % grid_.size[2];
    for (size_t k = 0; k < patches_.size(); ++k) {
      if (patches_[k].Holds(z, y, x)) add(kFirstPatch + static_cast<int64_t>(k));
    }
  }

  // Of the voxels of some places together.
  ClassErrors Errors(const std::vector<int64_t>& places) const {
    ClassGroups classes;
    for (int64_t c = 0; c < num_classes_; ++c) {
      ClassGroups parts;
      for (const int64_t place : places)
        parts.push_back(by_place_[static_cast<size_t>(place * num_classes_ + c)].Groups());
      classes.push_back(JoinGroups(parts));
    }
    return is_printed() ? PrintedErrors(classes, options_.regional_bins)
                        : CodeErrors(classes, options_.regional_bins);
  }

  // Of the cases so far, or the one case that is being added.
  PatchErrors OfPatches() const {
    if (pooled_) return cases_;
    ExactMean sce;
    ExactMean adaptive;
    double sce_max = std::nan("");
    double adaptive_max = std::nan("");
    for (int64_t k = 0; k < options_.patches; ++k) {
      const ClassErrors errors = Errors({kFirstPatch + k});
      sce.Add(errors.sce);
      adaptive.Add(errors.adaptive);
      sce_max = std::fmax(sce_max, errors.sce);
      adaptive_max = std::fmax(adaptive_max, errors.adaptive);
    }
    PatchErrors patches;
    patches.sce_avg.Add(sce.value());
    patches.sce_max.Add(sce_max);
    patches.adaptive_avg.Add(adaptive.value());
    patches.adaptive_max.Add(adaptive_max);
    return patches;
  }

  RegionalOptions options_;
  int64_t num_classes_;
  int64_t background_;
  VoxelGrid grid_;
  std::vector<VoxelBox> patches_;
  std::vector<RankedSums> by_label_;  // all voxels
  std::vector<RankedSums> by_place_;  // [place][class]
  PatchErrors cases_;
  bool pooled_ = false;
};

constexpr MetricNumber kRegionalNumbers[] = {
    {"sce_f5",
     "static calibration error as F.5 prints it: bins kept apart by label, over the number of "
     "labels",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"adaptive_ece_f6",
     "adaptive calibration error as F.6 prints it: gaps of labels in bins of equal mass, their "
     "mean",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"sce_all",
     "sce_s2 of the foreground and all voxels near the boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"sce_boundary",
     "sce_s2 within 2 voxels of the label boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"sce_local_avg",
     "sce_s2 of random patches, mean over patches",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"sce_local_max",
     "sce_s2 of random patches, the worst patch",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"adaptive_all",
     "adaptive_ece_s2 of the foreground and all voxels near the boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"adaptive_boundary",
     "adaptive_ece_s2 within 2 voxels of the label boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"adaptive_local_avg",
     "adaptive_ece_s2 of random patches, mean over patches",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"adaptive_local_max",
     "adaptive_ece_s2 of random patches, the worst patch",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
};

std::unique_ptr<MetricAccumulator> MakeRegional(const MetricContext& context,
                                                const OptionMap& options) {
  return std::make_unique<RegionalAccumulator>(context,
                                               ParseOptions<RegionalOptions>("regional", options));
}

}  // namespace

extern constinit const MetricInfo kRegional{
    .name = "regional",
    .reference = "Ding21",
    .numbers = kRegionalNumbers,
    .defaults = &DefaultOptions<RegionalOptions>,
    .make = &MakeRegional,
    .on_request = true,
    .needs_distance = true,
    // All, its regions, and the ten patches of the default where they cover the image.
    .bytes_per_voxel = [](int64_t) -> int64_t { return 12 * sizeof(uint32_t); }};

}  // namespace segcal
