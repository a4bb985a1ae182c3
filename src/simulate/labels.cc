// SPDX-License-Identifier: Apache-2.0
#include "simulate/labels.h"

#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "simulate/fields.h"

namespace segcal {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;

}  // namespace

double NormalUpperTail(double x) noexcept { return 0.5 * std::erfc(x * kSqrtHalf); }

double GumbelFromUniform(double u) noexcept { return -std::log(-std::log(u)); }

double GumbelFromNormal(double x) noexcept {
  // Above 0, Phi(x) is near 1 and only its distance from 1 has the digits.
  const double minus_log_phi =
      x > 0.0 ? -std::log1p(-NormalUpperTail(x)) : -std::log(NormalUpperTail(-x));
  return -std::log(minus_log_phi);
}

LabelNoise::LabelNoise(const std::vector<int64_t>& shape,
                       int64_t num_classes,
                       double correlation,
                       const CaseStreams& streams,
                       int num_threads)
    : num_classes_(num_classes), independent_(streams.Of(StreamUse::kLabel)) {
  if (correlation <= 0.0) return;
  fields_.resize(static_cast<size_t>(num_classes));
  ParallelFor(num_classes, num_threads, [&](int64_t c, int) {
    fields_[static_cast<size_t>(c)] =
        GaussianField(shape, correlation, streams.Of(StreamUse::kLabel, c + 1));
  });
}

double LabelNoise::At(int64_t c, int64_t voxel) const noexcept {
  if (fields_.empty()) {
    const int64_t counter = voxel * num_classes_ + c;
    return GumbelFromUniform(independent_.UniformAt(static_cast<uint64_t>(counter)));
  }
  const float x = fields_[static_cast<size_t>(c)][static_cast<size_t>(voxel)];
  return GumbelFromNormal(static_cast<double>(x));
}

int64_t DrawLabel(std::span<const double> log_eta,
                  const LabelNoise& noise,
                  int64_t voxel) noexcept {
  int64_t label = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (size_t c = 0; c < log_eta.size(); ++c) {
    const double score = log_eta[c] + noise.At(static_cast<int64_t>(c), voxel);
    if (score <= best) continue;
    best = score;
    label = static_cast<int64_t>(c);
  }
  return label;
}

}  // namespace segcal
