// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_location.h"

#include <cmath>

#include "core/throw.h"

namespace segcal {
namespace {

// Logits whose mean is this many times their spread are counted from it. Below, fits converge as
// they are (seen: at 5 residuals double, at 50 they no longer reach 1e-6).
constexpr double kFarOff = 4.0;

// A larger spread is divided by. The lowest logit of a voxel counts as 87 below its largest one, so
// that this takes offsets that differ from voxel to voxel.
constexpr double kWide = 64.0;

struct Moments {
  double mean = 0.0;
  double spread = 0.0;  // root of the mean square about the mean
};

template <class Visit>
void ForEachLogit(const TileSample& sample, const Visit& visit) {
  for (int64_t t = 0; t < sample.num_tiles(); ++t) {
    const Tile& tile = sample.tile(t);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      for (int64_t c = 0; c < tile.num_classes; ++c) {
        visit(tile.offset[v] + static_cast<double>(tile.logits[c * kTileVoxels + v]));
      }
    }
  }
}

Moments MeasureLogits(const TileSample& sample) {
  double count = 0.0;
  double sum = 0.0;
  ForEachLogit(sample, [&](double z) {
    sum += z;
    count += 1.0;
  });
  if (count == 0.0) return {};
  const double mean = sum / count;
  double squares = 0.0;
  ForEachLogit(sample, [&](double z) { squares += (z - mean) * (z - mean); });
  return {.mean = mean, .spread = std::sqrt(squares / count)};
}

double RowSum(const AffineShape& shape, const double* row) {
  double sum = 0.0;
  for (int64_t k = 0; k + 1 < shape.num_features(); ++k) sum += row[k];
  return sum;
}

void CentreBiases(const AffineShape& shape, std::vector<double>* parameters) {
  const auto features = static_cast<size_t>(shape.num_features());
  double mean = 0.0;
  for (size_t i = features - 1; i < parameters->size(); i += features)
    mean += (*parameters)[i] / static_cast<double>(shape.num_rows());
  for (size_t i = features - 1; i < parameters->size(); i += features) (*parameters)[i] -= mean;
}

}  // namespace

void LocateRawLogits(const TileSample& sample, const std::string& name, AffineShape* shape) {
  if (shape->space != AffineSpace::kRaw) return;
  const Moments moments = MeasureLogits(sample);
  // Also where they are not numbers, as the sum of values near the end of double.
  if (!(std::fabs(moments.mean) <= kLargestRaw && moments.spread <= kLargestRaw)) {
    Throw(ErrorCode::kBadData,
          "{} looks at the logits as they are, and these, {:.3g} on average with a spread of "
          "{:.3g}, leave no digits for their differences: at most {:g} is required; subtract an "
          "offset from every voxel, or take ms_c or dc, which do not see offsets",
          name,
          moments.mean,
          moments.spread,
          kLargestRaw);
  }
  // Powers of two, and integers: nothing is rounded by them.
  if (std::fabs(moments.mean) > kFarOff * moments.spread) shape->centre = std::round(moments.mean);
  if (moments.spread > kWide) shape->scale = std::exp2(std::round(std::log2(moments.spread)));
}

std::vector<double> ParametersOfLogits(const AffineShape& shape, std::vector<double> parameters) {
  if (shape.centre == 0.0 && shape.scale == 1.0) return parameters;
  const int64_t last = shape.num_features() - 1;
  for (int64_t r = 0; r < shape.num_rows(); ++r) {
    double* row = parameters.data() + r * shape.num_features();
    for (int64_t k = 0; k < last; ++k) row[k] /= shape.scale;
    row[last] -= shape.centre * RowSum(shape, row);
  }
  CentreBiases(shape, &parameters);
  return parameters;
}

std::vector<double> ParametersAtCentre(const AffineShape& shape, std::vector<double> parameters) {
  if (shape.centre == 0.0 && shape.scale == 1.0) return parameters;
  const int64_t last = shape.num_features() - 1;
  for (int64_t r = 0; r < shape.num_rows(); ++r) {
    double* row = parameters.data() + r * shape.num_features();
    row[last] += shape.centre * RowSum(shape, row);
    for (int64_t k = 0; k < last; ++k) row[k] *= shape.scale;
  }
  CentreBiases(shape, &parameters);
  return parameters;
}

}  // namespace segcal
