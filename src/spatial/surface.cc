// SPDX-License-Identifier: Apache-2.0
#include "spatial/surface.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/quantile.h"
#include "kernels/tile.h"
#include "spatial/boundary.h"
#include "spatial/distance.h"

namespace segcal {
namespace {

// A distance that equals the tolerance in exact arithmetic must count as within it.
constexpr double kRoundingSlack = 1.0 + 1e-12;

// One map's voxels of a class inside a box, their surface, and the distance of all to it.
struct ClassShape {
  explicit ClassShape(int64_t num_voxels) : set(static_cast<size_t>(num_voxels)) {}

  std::vector<uint8_t> set;
  std::vector<uint8_t> surface;
  std::vector<double> squared;

  void Measure(const VoxelGrid& part, int num_threads) {
    surface = FindSurface(part, set);
    squared = SquaredDistances(part, surface, num_threads);
  }
};

struct ClassExtent {
  bool labelled = false;
  bool predicted = false;
  VoxelBox box;

  void Include(const std::array<int64_t, 3>& at) {
    const bool first = box.empty();
    for (size_t axis = 0; axis < 3; ++axis) {
      box.begin[axis] = first ? at[axis] : std::min(box.begin[axis], at[axis]);
      box.end[axis] = first ? at[axis] + 1 : std::max(box.end[axis], at[axis] + 1);
    }
  }
};

// Where each class lies, in either map.
std::vector<ClassExtent> FindExtents(const VoxelGrid& grid,
                                     std::span<const int32_t> labels,
                                     std::span<const uint16_t> predicted,
                                     int64_t num_classes) {
  std::vector<ClassExtent> extents(static_cast<size_t>(num_classes));
  size_t v = 0;
  std::array<int64_t, 3> at{};
  for (at[0] = 0; at[0] < grid.size[0]; ++at[0]) {
    for (at[1] = 0; at[1] < grid.size[1]; ++at[1]) {
      for (at[2] = 0; at[2] < grid.size[2]; ++at[2], ++v) {
        if (labels[v] == kNoLabel) continue;
        ClassExtent& labelled = extents[static_cast<size_t>(labels[v])];
        labelled.labelled = true;
        labelled.Include(at);
        ClassExtent& found = extents[predicted[v]];
        found.predicted = true;
        found.Include(at);
      }
    }
  }
  return extents;
}

// The box with room for the tolerance band, and for one voxel in which its surface ends.
VoxelBox Enlarge(const VoxelGrid& grid, VoxelBox box, double tolerance) {
  for (size_t axis = 0; axis < 3; ++axis) {
    const double reach = std::ceil(tolerance * kRoundingSlack / grid.spacing[axis]);
    const auto room =
        static_cast<int64_t>(std::clamp(reach, 1.0, static_cast<double>(grid.size[axis])));
    box.begin[axis] = std::max<int64_t>(0, box.begin[axis] - room);
    box.end[axis] = std::min(grid.size[axis], box.end[axis] + room);
  }
  return box;
}

// Distances of the voxels marked in `of` to a surface.
std::vector<double> DistancesAt(const std::vector<uint8_t>& of,
                                const std::vector<double>& squared) {
  std::vector<double> distances;
  for (size_t v = 0; v < of.size(); ++v) {
    if (of[v] != 0) distances.push_back(std::sqrt(squared[v]));
  }
  return distances;
}

// Distances of the voxels of a set to another set: 0 inside it, else to its surface, which is where
// the nearest voxel of a set always lies.
void AppendVolumeDistances(const ClassShape& from, const ClassShape& to, std::vector<double>* out) {
  for (size_t v = 0; v < from.set.size(); ++v) {
    if (from.set[v] != 0) out->push_back(to.set[v] != 0 ? 0.0 : std::sqrt(to.squared[v]));
  }
}

// Plain sums in voxel order: the same for any number of threads.
double Sum(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

int64_t CountWithin(const std::vector<double>& distances, double tolerance) {
  return std::count_if(
      distances.begin(), distances.end(), [&](double d) { return d <= tolerance; });
}

// (SF8): Dice of the two surfaces, each thickened by the tolerance.
double BandDice(const ClassShape& a, const ClassShape& b, double tolerance) {
  const double squared = tolerance * tolerance;
  int64_t both = 0;
  int64_t sum = 0;
  for (size_t v = 0; v < a.squared.size(); ++v) {
    const bool in_a = a.squared[v] <= squared;
    const bool in_b = b.squared[v] <= squared;
    both += in_a && in_b ? 1 : 0;
    sum += (in_a ? 1 : 0) + (in_b ? 1 : 0);
  }
  return 2.0 * static_cast<double>(both) / static_cast<double>(sum);
}

void Score(const ClassShape& truth, const ClassShape& found, double tolerance, SurfaceScores* s) {
  const double within = tolerance * kRoundingSlack;
  std::vector<double> out = DistancesAt(truth.surface, found.squared);
  std::vector<double> back = DistancesAt(found.surface, truth.squared);
  const auto size = static_cast<double>(out.size() + back.size());
  s->mean_distance = (Sum(out) + Sum(back)) / size;
  s->surface_dice =
      static_cast<double>(CountWithin(out, within) + CountWithin(back, within)) / size;
  s->hausdorff = std::max(*std::max_element(out.begin(), out.end()),
                          *std::max_element(back.begin(), back.end()));
  s->hausdorff95 = std::max(Quantile(out, 0.95), Quantile(back, 0.95));
  std::vector<double> volume;
  AppendVolumeDistances(truth, found, &volume);
  AppendVolumeDistances(found, truth, &volume);
  s->volume95 = Quantile(volume, 0.95);
  s->band_dice = BandDice(truth, found, within);
}

}  // namespace

std::vector<SurfaceScores> ScoreSurfaces(const VoxelGrid& grid,
                                         std::span<const int32_t> labels,
                                         std::span<const uint16_t> predicted,
                                         int64_t num_classes,
                                         double tolerance,
                                         int num_threads) {
  SEGCAL_DCHECK(static_cast<int64_t>(labels.size()) == grid.num_voxels());
  SEGCAL_DCHECK(predicted.size() == labels.size());
  const std::vector<ClassExtent> extents = FindExtents(grid, labels, predicted, num_classes);
  std::vector<SurfaceScores> scores(extents.size());
  for (size_t c = 0; c < extents.size(); ++c) {
    scores[c].labelled = extents[c].labelled;
    scores[c].predicted = extents[c].predicted;
    if (!extents[c].labelled || !extents[c].predicted) continue;
    const VoxelBox box = Enlarge(grid, extents[c].box, tolerance);
    ClassShape truth(box.num_voxels());
    ClassShape found(box.num_voxels());
    ForEachVoxel(grid, box, [&](int64_t v, int64_t inside) {
      const int32_t label = labels[static_cast<size_t>(v)];
      const bool decided = label != kNoLabel && predicted[static_cast<size_t>(v)] == c;
      truth.set[static_cast<size_t>(inside)] = label == static_cast<int32_t>(c) ? 1 : 0;
      found.set[static_cast<size_t>(inside)] = decided ? 1 : 0;
    });
    const VoxelGrid part = CropGrid(grid, box);
    truth.Measure(part, num_threads);
    found.Measure(part, num_threads);
    Score(truth, found, tolerance, &scores[c]);
  }
  return scores;
}

}  // namespace segcal
