// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "corrupt/corruption.h"

namespace segcal {
namespace {

// The k taps of (CR5), which sum to 1.
std::vector<double> GaussianTaps(int64_t k, double sigma) {
  std::vector<double> taps(static_cast<size_t>(k));
  double sum = 0.0;
  for (int64_t i = 0; i < k; ++i) {
    const double x = static_cast<double>(i - k / 2) / sigma;
    taps[static_cast<size_t>(i)] = std::exp(-0.5 * x * x);
    sum += taps[static_cast<size_t>(i)];
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

// Index i of a line of n values that is mirrored at its first and last value as often as need be.
int64_t Mirror(int64_t i, int64_t n) noexcept {
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  const int64_t j = ((i % period) + period) % period;
  return j < n ? j : period - j;
}

// One row of pixels, mirrored at both ends; `padded` is memory of the caller.
void BlurRow(const std::vector<double>& taps,
             const Plane& plane,
             int64_t y,
             std::vector<double>* padded,
             float* out) {
  const auto k = static_cast<int64_t>(taps.size());
  const int64_t channels = plane.channels;
  const float* row = plane.values.data() + y * plane.width * channels;
  padded->resize(static_cast<size_t>((plane.width + k - 1) * channels));
  for (int64_t x = 0; x < plane.width + k - 1; ++x) {
    const float* pixel = row + Mirror(x - k / 2, plane.width) * channels;
    for (int64_t c = 0; c < channels; ++c)
      (*padded)[static_cast<size_t>(x * channels + c)] = static_cast<double>(pixel[c]);
  }
  for (int64_t i = 0; i < plane.width * channels; ++i) {
    double sum = 0.0;
    for (int64_t t = 0; t < k; ++t)
      sum += taps[static_cast<size_t>(t)] * (*padded)[static_cast<size_t>(i + t * channels)];
    out[i] = static_cast<float>(sum);
  }
}

// One row of the result from the rows above and below it; `sums` is memory of the caller.
void BlurColumns(const std::vector<double>& taps,
                 const std::vector<float>& rows,
                 int64_t y,
                 std::vector<double>* sums,
                 Plane* plane) {
  const auto k = static_cast<int64_t>(taps.size());
  const int64_t width = plane->width * plane->channels;
  sums->assign(static_cast<size_t>(width), 0.0);
  for (int64_t t = 0; t < k; ++t) {
    const float* row = rows.data() + Mirror(y + t - k / 2, plane->height) * width;
    const double tap = taps[static_cast<size_t>(t)];
    for (int64_t x = 0; x < width; ++x)
      (*sums)[static_cast<size_t>(x)] += tap * static_cast<double>(row[x]);
  }
  for (int64_t x = 0; x < width; ++x)
    plane->values[static_cast<size_t>(y * width + x)] =
        static_cast<float>((*sums)[static_cast<size_t>(x)]);
}

// Convolves rows, then columns, with a Gaussian of k taps (CR4, CR5).
void Blur(const CorruptionInput& input, Plane* plane) {
  const std::vector<double> taps =
      GaussianTaps(Choose<int64_t>(input.severity, 5, 13), Choose(input.severity, 1.0, 3.0));
  std::vector<float> rows(plane->values.size());
  std::vector<double> scratch;
  for (int64_t y = 0; y < plane->height; ++y)
    BlurRow(taps, *plane, y, &scratch, rows.data() + y * plane->width * plane->channels);
  for (int64_t y = 0; y < plane->height; ++y) BlurColumns(taps, rows, y, &scratch, plane);
}

}  // namespace

extern constinit const CorruptionInfo kBlur{.name = "blur",
                                            .summary = "Gaussian blur, a slice at a time.",
                                            .mild = "k 5, sigma 1",
                                            .strong = "k 13, sigma 3",
                                            .apply = &Blur};

}  // namespace segcal
