// SPDX-License-Identifier: Apache-2.0
#include "kernels/tree_reference_for_test.h"

#include <algorithm>
#include <cmath>

#include "kernels/tile.h"

namespace segcal::reference {
namespace {

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Calls use(parameter, input) for every weight and for the bias, whose input is 1.
template <class Use>
void ForEachInput(
    const PaddedPlane& plane, int64_t first_parameter, int64_t y, int64_t x, const Use& use) {
  int64_t parameter = first_parameter;
  for (int64_t c = 0; c < plane.channels; ++c) {
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 5; ++j) {
        const float in =
            plane.data[c * plane.channel_stride + (y + 2 * i) * plane.row_stride + x + 2 * j];
        use(static_cast<size_t>(parameter++), static_cast<double>(in));
      }
    }
  }
  use(static_cast<size_t>(parameter), 1.0);
}

// The plane a filter looks at and its first parameter.
const PaddedPlane& FilterPlane(const TreeStrip& strip, int64_t filter) {
  return filter == kImageLeaf ? strip.image : strip.scores;
}
int64_t FirstWeight(const TreeShape& shape, int64_t filter) {
  return std::min(filter, shape.score_filters()) * (kTreeTaps * shape.classes + 1);
}
std::vector<int64_t> ListFilters(const TreeShape& shape) {
  if (shape.has_image()) return {0, 1, 2, 3, 4, 5, 6, 7, kImageLeaf};
  return {0, 1, 2, 3, 4, 5, 6};
}

}  // namespace

TreeVoxel Tree(const TreeShape& shape,
               std::span<const double> parameters,
               const TreeStrip& strip,
               int64_t y,
               int64_t x) {
  std::vector<double> a(kMaxTreeFilters, 0.0);
  std::vector<double> absolute(kMaxTreeFilters, 0.0);
  for (const int64_t f : ListFilters(shape)) {
    const auto k = static_cast<size_t>(f);
    ForEachInput(FilterPlane(strip, f), FirstWeight(shape, f), y, x, [&](size_t p, double in) {
      a[k] += parameters[p] * in;
      absolute[k] += std::fabs(parameters[p] * in);
    });
  }
  const double one = shape.has_image() ? 1.0 : 0.0;
  const double t[4] = {a[0] + one, a[1] + one, a[2] + one, a[3] + one};
  const double g1 = Sigmoid(a[4]);
  const double g2 = Sigmoid(a[5]);
  const double g3 = Sigmoid(a[6]);
  const double left = g1 * t[0] + (1.0 - g1) * t[1];
  const double right = g2 * t[2] + (1.0 - g2) * t[3];
  const double scores = g3 * left + (1.0 - g3) * right;

  TreeVoxel voxel;
  const double least = static_cast<double>(kMinTemperature);
  double slope = 0.0;  // of the temperature by `scores`
  std::vector<double> by(kMaxTreeFilters, 0.0);
  if (shape.has_image()) {
    const double g4 = Sigmoid(a[7]);
    const double leaf = a[8] + 1.0;
    const double root = g4 * leaf + (1.0 - g4) * scores;
    const double active = root > 0.0 ? 1.0 : 0.0;
    voxel.temperature = std::max(root, 0.0) + least;
    slope = active * (1.0 - g4);
    by[7] = active * g4 * (1.0 - g4) * (leaf - scores);
    by[8] = active * g4;
  } else {
    const double shifted = scores + std::log(std::exp(1.0) - 1.0);
    const double soft = std::max(shifted, 0.0) + std::log1p(std::exp(-std::fabs(shifted)));
    voxel.temperature = std::max(soft, least);
    slope = soft > least ? Sigmoid(shifted) : 0.0;
  }
  by[0] = slope * g3 * g1;
  by[1] = slope * g3 * (1.0 - g1);
  by[2] = slope * (1.0 - g3) * g2;
  by[3] = slope * (1.0 - g3) * (1.0 - g2);
  by[4] = slope * g3 * g1 * (1.0 - g1) * (t[0] - t[1]);
  by[5] = slope * (1.0 - g3) * g2 * (1.0 - g2) * (t[2] - t[3]);
  by[6] = slope * g3 * (1.0 - g3) * (left - right);
  for (size_t k = 0; k < by.size(); ++k) {
    const double terms = static_cast<double>(25 * shape.classes + 1);
    voxel.rounding += std::fabs(by[k]) * terms * 0x1p-24 * absolute[k];
  }
  voxel.slopes = std::move(by);
  return voxel;
}

VoxelLoss LossAt(const TreeStrip& strip, int64_t y, int64_t x, int32_t label, double temperature) {
  const PaddedPlane& plane = strip.scores;
  const float* at = plane.data + (y + kTreeHalo) * plane.row_stride + x + kTreeHalo;
  std::vector<double> u;
  for (int64_t c = 0; c < plane.channels; ++c)
    u.push_back(static_cast<double>(at[c * plane.channel_stride]));
  const double top = *std::max_element(u.begin(), u.end());
  double sum = 0.0;
  double moment = 0.0;
  for (double& z : u) {
    z -= top;
    sum += std::exp(z / temperature);
    moment += z * std::exp(z / temperature);
  }
  const double own = u[static_cast<size_t>(label)];
  return {.loss = std::log(sum) - own / temperature,
          .slope = (own - moment / sum) / (temperature * temperature)};
}

TreeSums Trees(const TreeShape& shape,
               std::span<const double> parameters,
               const TreeStrip& strip,
               const int32_t* labels,
               int64_t label_stride,
               int64_t columns) {
  TreeSums sums;
  sums.gradient.assign(parameters.size(), 0.0);
  sums.scale = sums.gradient;
  for (int64_t y = 0; y < strip.rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      const int32_t label = labels[y * label_stride + x];
      if (label == kNoLabel) continue;
      const TreeVoxel voxel = Tree(shape, parameters, strip, y, x);
      const VoxelLoss loss = LossAt(strip, y, x, label, voxel.temperature);
      ++sums.count;
      sums.loss += loss.loss;
      for (const int64_t f : ListFilters(shape)) {
        const double slope = loss.slope * voxel.slopes[static_cast<size_t>(f)];
        ForEachInput(FilterPlane(strip, f), FirstWeight(shape, f), y, x, [&](size_t p, double in) {
          sums.gradient[p] += slope * in;
          sums.scale[p] += std::fabs(slope * in);
        });
      }
    }
  }
  return sums;
}

}  // namespace segcal::reference
