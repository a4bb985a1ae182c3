// SPDX-License-Identifier: Apache-2.0
#include "train/images/patch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/tile.h"

namespace segcal::train {
namespace {

// Along one axis, a voxel of the patch between two voxels of the image.
struct Place {
  int64_t low = 0;      // may be outside
  int64_t nearest = 0;  // may be outside
  float share = 0.0f;   // of the voxel after `low`
};

std::vector<Place> MakePlaces(double first, double step, int64_t count) {
  std::vector<Place> places;
  for (int64_t i = 0; i < count; ++i) {
    const double x = first + step * static_cast<double>(i);
    const double low = std::floor(x);
    places.push_back({.low = static_cast<int64_t>(low),
                      .nearest = static_cast<int64_t>(std::floor(x + 0.5)),
                      .share = static_cast<float>(x - low)});
  }
  return places;
}

bool Inside(int64_t at, int64_t size) noexcept { return at >= 0 && at < size; }

float Weight(const Place& place, int up) noexcept {
  return up == 1 ? place.share : 1.0f - place.share;
}

// A row of the image that a row of the patch is made of.
struct SourceRow {
  int64_t first = 0;  // its first voxel
  float weight = 0.0f;
};

// The rows between which the patch's row at z, y lies; those outside the image add nothing.
struct SourceRows {
  std::array<SourceRow, 4> rows;
  size_t count = 0;

  SourceRows(const Extent& extent, const Place& z, const Place& y) {
    for (const int up_z : {0, 1}) {
      for (const int up_y : {0, 1}) {
        const int64_t at_z = z.low + up_z;
        const int64_t at_y = y.low + up_y;
        const float weight = Weight(z, up_z) * Weight(y, up_y);
        if (weight > 0.0f && Inside(at_z, extent[0]) && Inside(at_y, extent[1]))
          rows[count++] = {.first = (at_z * extent[1] + at_y) * extent[2], .weight = weight};
      }
    }
  }
};

// Linear interpolation at one voxel of the patch.
class Interpolation {
 public:
  Interpolation(const SourceRows& rows, const Place& x, int64_t width) {
    for (size_t r = 0; r < rows.count; ++r) {
      for (const int up : {0, 1}) {
        const float weight = rows.rows[r].weight * Weight(x, up);
        if (weight > 0.0f && Inside(x.low + up, width))
          Add(rows.rows[r].first + x.low + up, weight);
      }
    }
  }
  float At(const float* values) const noexcept {
    float sum = 0.0f;
    for (int i = 0; i < count_; ++i) sum += weights_[i] * values[indices_[i]];
    return sum;
  }

 private:
  void Add(int64_t index, float weight) {
    indices_[count_] = index;
    weights_[count_++] = weight;
  }

  int64_t indices_[8];
  float weights_[8];
  int count_ = 0;
};

}  // namespace

PatchView DrawView(const Extent& image,
                   const Extent& size,
                   const AugmentOptions& augment,
                   const Rng& rng) {
  Rng draws = rng;
  PatchView view;
  const double scale = std::exp(augment.scale * (2.0 * draws.Uniform() - 1.0));
  for (size_t axis = 0; axis < 3; ++axis) {
    const bool is_plane = size[axis] == 1;
    const double step = is_plane ? 1.0 : scale;
    const double length = step * static_cast<double>(size[axis] - 1);
    const double room = static_cast<double>(image[axis] - 1) - length;
    double first = room * draws.Uniform();  // where there is no room, it goes beyond both ends
    // Whole voxels, unless sizes change anyway.
    if (is_plane || augment.scale == 0.0) first = std::floor(first + 0.5);
    const bool flip = draws.Uniform() < 0.5 && augment.flips && !is_plane;
    view.step[axis] = flip ? -step : step;
    view.first[axis] = flip ? first + length : first;
  }
  view.factor = 1.0 + augment.intensity * draws.Normal();
  view.shift = augment.intensity * draws.Normal();
  view.noise = augment.noise;
  view.grain = Rng(draws.Next(), 0);
  return view;
}

void CopyPatch(const ImageCase& image,
               const PatchView& view,
               const Extent& size,
               std::span<float> values,
               std::span<int64_t> labels) {
  std::array<std::vector<Place>, 3> places;
  for (size_t axis = 0; axis < 3; ++axis)
    places[axis] = MakePlaces(view.first[axis], view.step[axis], size[axis]);
  const int64_t voxels = NumVoxels(size);
  const int64_t all = NumVoxels(image.extent);
  Rng grain = view.grain;
  int64_t v = 0;
  for (const Place& z : places[0]) {
    for (const Place& y : places[1]) {
      const SourceRows rows(image.extent, z, y);
      for (const Place& x : places[2]) {
        const Interpolation at(rows, x, image.extent[2]);
        for (int64_t k = 0; k < image.channels; ++k) {
          const auto clean = static_cast<double>(at.At(image.values.data() + k * all));
          const double noise = view.noise > 0.0 ? view.noise * grain.Normal() : 0.0;
          values[static_cast<size_t>(k * voxels + v)] =
              static_cast<float>(view.factor * clean + view.shift + noise);
        }
        const bool inside = Inside(z.nearest, image.extent[0]) &&
                            Inside(y.nearest, image.extent[1]) &&
                            Inside(x.nearest, image.extent[2]);
        const int64_t from =
            (z.nearest * image.extent[1] + y.nearest) * image.extent[2] + x.nearest;
        labels[static_cast<size_t>(v)] =
            inside ? image.labels[static_cast<size_t>(from)] : int64_t{kNoLabel};
        ++v;
      }
    }
  }
}

}  // namespace segcal::train
