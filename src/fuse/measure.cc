// SPDX-License-Identifier: Apache-2.0
#include "fuse/measure.h"

#include <cmath>

#include "measures/means.h"
#include "spatial/boundary.h"
#include "spatial/regions.h"
#include "spatial/surface.h"

namespace segcal {
namespace {

constexpr FusionMetric kMetrics[] = {
    {"accuracy", false},
    {"dsc", false},
    {"dsc_boundary", false},
    {"asd", false},
    {"md95", false},
    {"surface_dice", false},
    {"change_rate", true},
    {"wrong_to_right", true},
    {"right_to_wrong", true},
    {"change_rate_boundary", true},
    {"wrong_to_right_boundary", true},
    {"right_to_wrong_boundary", true},
};

double Ratio(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

// Voxels of one class in labels, prediction and both.
struct Overlap {
  int64_t labelled = 0;
  int64_t fused = 0;
  int64_t both = 0;
};

// Dice score over the labelled voxels that `region` takes (empty: all), mean over the classes but
// the background that are in either map.
double MeanDice(const std::vector<int32_t>& truth,
                const std::vector<uint16_t>& fused,
                const std::vector<uint8_t>& region,
                int64_t num_classes,
                int64_t background) {
  std::vector<Overlap> classes(static_cast<size_t>(num_classes));
  for (size_t v = 0; v < truth.size(); ++v) {
    if (truth[v] == kNoLabel || (!region.empty() && region[v] == 0)) continue;
    ++classes[static_cast<size_t>(truth[v])].labelled;
    ++classes[fused[v]].fused;
    if (truth[v] == fused[v]) ++classes[fused[v]].both;
  }
  std::vector<double> dice;
  for (const Overlap& c : classes) dice.push_back(Ratio(2 * c.both, c.labelled + c.fused));
  return MeanOfDefined(dice, background);
}

double Accuracy(const std::vector<int32_t>& truth, const std::vector<uint16_t>& fused) {
  int64_t labelled = 0;
  int64_t right = 0;
  for (size_t v = 0; v < truth.size(); ++v) {
    if (truth[v] == kNoLabel) continue;
    ++labelled;
    if (truth[v] == fused[v]) ++right;
  }
  return Ratio(right, labelled);
}

// What became of the voxels of a region (FU9).
struct Changes {
  int64_t possible = 0;  // candidates differ
  int64_t changed = 0;
  int64_t corrected = 0;
  int64_t spoiled = 0;

  void Add(int32_t truth, uint16_t before, uint16_t after) {
    ++possible;
    if (before == after) return;
    ++changed;
    if (after == truth) ++corrected;
    if (before == truth) ++spoiled;
  }
};

}  // namespace

std::span<const FusionMetric> FusionMetrics() { return kMetrics; }

FusionMeasure::FusionMeasure(const CaseVotes& votes,
                             const std::vector<uint16_t>& reference,
                             const Dataset& dataset,
                             double tolerance,
                             int threads)
    : votes_(votes),
      reference_(reference),
      num_classes_(dataset.num_classes()),
      background_(dataset.background.value_or(-1)),
      tolerance_(tolerance),
      threads_(threads),
      boundary_(votes.truth().size()),
      all_(votes.truth().size()) {
  const auto distances = SquaredBoundaryDistances(votes.grid(), votes.truth(), threads);
  for (size_t v = 0; v < distances.size(); ++v) {
    const int32_t label = votes.truth()[v];
    boundary_[v] = label != kNoLabel && InBoundaryRegion(distances[v]) ? 1 : 0;
    all_[v] = InAllRegion(label, distances[v], background_) ? 1 : 0;
  }
}

std::vector<MetricValue> FusionMeasure::Measure(const std::vector<uint16_t>& fused) const {
  const std::vector<int32_t>& truth = votes_.truth();
  Changes all;
  Changes boundary;
  for (size_t v = 0; v < truth.size(); ++v) {
    if (votes_.disputed()[v] == 0) continue;
    if (all_[v] != 0) all.Add(truth[v], reference_[v], fused[v]);
    if (boundary_[v] != 0) boundary.Add(truth[v], reference_[v], fused[v]);
  }
  std::vector<double> distance;
  std::vector<double> far;
  std::vector<double> surface;
  for (const SurfaceScores& s :
       ScoreSurfaces(votes_.grid(), truth, fused, num_classes_, tolerance_, threads_)) {
    // A class in one of both only is as far away as can be.
    const bool one_sided = s.labelled != s.predicted;
    distance.push_back(one_sided ? votes_.grid().Diagonal() : s.mean_distance);
    far.push_back(one_sided ? votes_.grid().Diagonal() : s.volume95);
    surface.push_back(one_sided ? 0.0 : s.band_dice);
  }
  const double values[] = {Accuracy(truth, fused),
                           MeanDice(truth, fused, {}, num_classes_, background_),
                           MeanDice(truth, fused, boundary_, num_classes_, background_),
                           MeanOfDefined(distance, background_),
                           MeanOfDefined(far, background_),
                           MeanOfDefined(surface, background_),
                           Ratio(all.changed, all.possible),
                           Ratio(all.corrected, all.changed),
                           Ratio(all.spoiled, all.changed),
                           Ratio(boundary.changed, boundary.possible),
                           Ratio(boundary.corrected, boundary.changed),
                           Ratio(boundary.spoiled, boundary.changed)};
  static_assert(std::size(values) == std::size(kMetrics));
  std::vector<MetricValue> metrics;
  for (size_t k = 0; k < std::size(values); ++k)
    metrics.push_back({.name = kMetrics[k].name, .value = values[k], .per_class = {}});
  return metrics;
}

}  // namespace segcal
