// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "kernels/distances.h"
#include "measures/calibration_options.h"
#include "measures/cells.h"
#include "measures/diagram.h"
#include "measures/foreground.h"
#include "metrics/metric.h"
#include "spatial/bands.h"
#include "spatial/distance.h"
#include "spatial/regions.h"

namespace segcal {
namespace {

struct BoundaryOptions {
  CalibrationOptions calibration;
  // What bands and their distances are measured in: voxels, or the units of the spacing.
  std::string distance = "voxels";

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    CalibrationOptions::Fields(self.calibration, field);
    field("distance", self.distance, OneOf({"voxels", "physical"}));
  }

  static BoundaryOptions Parse(const OptionMap& given) {
    return ParseOptions<BoundaryOptions>("boundary_ece", WithPreset(given));
  }
  bool physical() const { return distance == "physical"; }
};

// Distances of the voxels of a band: D_k of (BA5).
struct DistanceSum {
  double pending = 0.0;
  ExactSum total;

  static constexpr auto SumFields() { return std::tuple(&DistanceSum::total); }
  void Flush() {
    total.Add(pending);
    pending = 0.0;
  }
};

// Where a case has no boundary: the lower end of the last band.
constexpr double kUnknownDistance = kBandEdges.back();

// Band and distance from the boundary of every voxel of a tile.
struct TileBands {
  alignas(64) double distance[kTileVoxels];
  int32_t band[kTileVoxels];
};
void FindInVoxels(const int32_t* squared, TileBands* out) {
  DistanceTile(squared, kUnknownDistance, out->distance);
  for (int64_t v = 0; v < kTileVoxels; ++v) out->band[v] = FindBandInVoxels(squared[v]);
}
void FindInLengths(const double* squared, TileBands* out) {
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    out->distance[v] = std::isinf(squared[v]) ? kUnknownDistance : std::sqrt(squared[v]);
    out->band[v] = static_cast<int32_t>(FindBand(squared[v]));
  }
}

// Marks a voxel that is in no group.
constexpr int32_t kNoGroup = -1;

// Groups of the region All: its part Boundary, and the rest.
enum RegionGroup : int32_t { kAtBoundary, kElsewhere, kNumRegionGroups };

// Calibration by distance from the label boundary, docs/methods/boundary_ece.md, and in the regions
// Boundary and All, docs/methods/regions.md.
class BoundaryAccumulator final : public ListedSums<BoundaryAccumulator> {
 public:
  BoundaryAccumulator(const MetricContext& context, const BoundaryOptions& options)
      : rule_(options.calibration.rule()),
        physical_(options.physical()),
        num_classes_(context.num_classes),
        background_(context.background),
        labels_(options.calibration.foreground ? context.background : -1),
        sums_(CellGrid::Make({rule_}), kNumBands * num_classes_),
        regions_(CellGrid::Make({rule_}), kNumRegionGroups) {}

  void Add(const EvalTile& tile) override {
    const int32_t* labels = labels_.Of(tile.labels);
    TileBands bands;
    if (physical_) {
      FindInLengths(tile.squared_length, &bands);
    } else {
      FindInVoxels(tile.squared_distance, &bands);
    }
    int32_t groups[kTileVoxels];
    int32_t regions[kTileVoxels];
    const auto num_classes = static_cast<int32_t>(num_classes_);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const int32_t in_voxels = tile.squared_distance[v];
      const bool labelled = labels[v] != kNoLabel;
      groups[v] = labelled ? bands.band[v] * num_classes + tile.predicted[v] : kNoGroup;
      const int32_t region = InBoundaryRegion(in_voxels) ? kAtBoundary : kElsewhere;
      regions[v] = InAllRegion(labels[v], in_voxels, background_) ? region : kNoGroup;
      without_boundary_ += labelled && in_voxels == kNoSource ? 1 : 0;
    }
    int32_t cells[kTileVoxels];
    FindCells(tile.confidence, kTileVoxels, sums_.grid().edges(), cells);
    sums_.AddTile(groups, cells, tile.confidence, tile.predicted, labels);
    regions_.AddTile(regions, cells, tile.confidence, tile.predicted, labels);
    AddDistances(labels, bands);
  }

  void Flush() override {
    sums_.Flush();
    regions_.Flush();
    for (DistanceSum& distances : distances_) distances.Flush();
  }

  static constexpr auto SumFields() {
    using B = BoundaryAccumulator;
    return std::tuple(&B::sums_, &B::regions_, &B::distances_, &B::without_boundary_);
  }

  std::vector<MetricValue> Finish() const override {
    const std::array<Bin, kNumBands> bands = Bands();
    const auto gap = [&](size_t k) { return bands[k].count > 0 ? bands[k].Gap() : std::nan(""); };
    const int64_t total = sums_.Count();
    const std::vector<Bin> boundary = regions_.Bins(rule_, kAtBoundary);
    const std::vector<Bin> all = regions_.Bins(rule_);
    return {
        {"ba_ece", BoundaryAware(bands), {}},
        {"gap_0_3", gap(0), {}},
        {"gap_3_7", gap(1), {}},
        {"gap_7_15", gap(2), {}},
        {"gap_15_inf", gap(3), {}},
        {"no_boundary",
         total > 0 ? static_cast<double>(without_boundary_) / static_cast<double>(total)
                   : std::nan(""),
         {}},
        {"ece_boundary", BinnedError(boundary, regions_.Count(kAtBoundary), Norm::kMean), {}},
        {"mce_boundary", BinnedError(boundary, regions_.Count(kAtBoundary), Norm::kLargest), {}},
        {"ece_non_boundary",
         BinnedError(regions_.Bins(rule_, kElsewhere), regions_.Count(kElsewhere), Norm::kMean),
         {}},
        {"ece_all", BinnedError(all, regions_.Count(), Norm::kMean), {}},
        {"mce_all", BinnedError(all, regions_.Count(), Norm::kLargest), {}}};
  }

  // A diagram of every band and region.
  std::vector<Diagram> Diagrams() const override {
    constexpr std::array<const char*, kNumBands> kNames = {
        "distance_0_3", "distance_3_7", "distance_7_15", "distance_15_inf"};
    std::vector<Diagram> diagrams;
    const auto add = [&](const char* region, const std::vector<Bin>& bins) {
      diagrams.push_back(MakeReliabilityDiagram(region, -1, rule_, bins));
    };
    for (int64_t band = 0; band < kNumBands; ++band)
      add(kNames[static_cast<size_t>(band)], BinsOfBand(band));
    add("boundary", regions_.Bins(rule_, kAtBoundary));
    add("all", regions_.Bins(rule_));
    return diagrams;
  }

  std::vector<CellRow> Cells() const override {
    return MakeCellRows("predicted_by_band", sums_, num_classes_);
  }

 private:
  // In the order of the voxels; a sum in memory would wait for itself at every voxel.
  void AddDistances(const int32_t* labels, const TileBands& bands) {
    std::array<double, kNumBands> sums;
    for (size_t k = 0; k < sums.size(); ++k) sums[k] = distances_[k].pending;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const double distance = labels[v] == kNoLabel ? 0.0 : bands.distance[v];
      for (size_t k = 0; k < sums.size(); ++k)
        sums[k] += bands.band[v] == static_cast<int32_t>(k) ? distance : 0.0;
    }
    for (size_t k = 0; k < sums.size(); ++k) distances_[k].pending = sums[k];
  }

  std::vector<Bin> BinsOfBand(int64_t band) const {
    std::vector<Bin> bins(BinStarts(rule_).size());
    for (int64_t c = 0; c < num_classes_; ++c) {
      const std::vector<Bin> part = sums_.Bins(rule_, band * num_classes_ + c);
      MergeSums(part, &bins);
    }
    return bins;
  }

  std::array<Bin, kNumBands> Bands() const {
    std::array<Bin, kNumBands> bands;
    for (const Cell& cell : sums_.Cells())
      MergeSums(cell.sums, &bands[static_cast<size_t>(cell.group / num_classes_)]);
    return bands;
  }

  // (BA4) to (BA6). The gap of uncertainty and error rate is that of confidence and accuracy.
  double BoundaryAware(const std::array<Bin, kNumBands>& bands) const {
    double sum = 0.0;
    double weights = 0.0;
    for (size_t k = 0; k < bands.size(); ++k) {
      if (bands[k].count == 0) continue;
      const auto count = static_cast<double>(bands[k].count);
      const double weight = 1.0 / (distances_[k].total.value() / count + 1.0);
      sum += weight * bands[k].Gap();
      weights += weight;
    }
    return weights > 0.0 ? sum / weights : std::nan("");
  }

  BinRule rule_;  // of regions and diagrams
  bool physical_;
  int64_t num_classes_;
  int64_t background_;
  ForegroundLabels labels_;
  CellSums sums_;     // group: band, then predicted class
  CellSums regions_;  // group: RegionGroup
  std::array<DistanceSum, kNumBands> distances_;
  int64_t without_boundary_ = 0;
};

constexpr MetricNumber kBoundaryEceNumbers[] = {
    {"ba_ece",
     "gap of confidence and accuracy in bands of distance from the label boundary, near ones first",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"gap_0_3",
     "gap where the label boundary is nearer than 3 voxels (or units of the spacing)",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"gap_3_7",
     "gap where it is 3 to 7 away",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"gap_7_15",
     "gap where it is 7 to 15 away",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"gap_15_inf",
     "gap where it is 15 or more away",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"no_boundary",
     "share of voxels in images whose labels have no boundary",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     0.0,
     1.0},
    {"ece_boundary",
     "expected calibration error within 2 voxels of the label boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"mce_boundary",
     "largest gap of a bin within 2 voxels of the label boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"ece_non_boundary",
     "expected calibration error of the foreground farther from it",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"ece_all",
     "expected calibration error of the foreground and all voxels near the boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"mce_all",
     "largest gap of a bin of the foreground and all voxels near the boundary",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
};

std::unique_ptr<MetricAccumulator> MakeBoundary(const MetricContext& context,
                                                const OptionMap& options) {
  return std::make_unique<BoundaryAccumulator>(context, BoundaryOptions::Parse(options));
}

bool NeedsLengths(const OptionMap& options) { return BoundaryOptions::Parse(options).physical(); }

}  // namespace

extern constinit const MetricInfo kBoundaryErrors{.name = "boundary_ece",
                                                  .reference = "Zeevi25",
                                                  .numbers = kBoundaryEceNumbers,
                                                  .defaults = &DefaultOptions<BoundaryOptions>,
                                                  .make = &MakeBoundary,
                                                  .on_request = false,
                                                  .needs_distance = true,
                                                  .needs_lengths = &NeedsLengths};

}  // namespace segcal
