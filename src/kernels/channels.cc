// SPDX-License-Identifier: Apache-2.0
#include "kernels/channels.h"

#include <algorithm>

namespace segcal {
namespace {

// Eight running sums, so that additions need not wait for each other; their order is part of the
// result.
constexpr int64_t kSums = 8;

struct Sums {
  double first[kSums] = {};
  double second[kSums] = {};

  void AddTo(double* one, double* two) const noexcept {
    for (int64_t k = 0; k < kSums; ++k) {
      *one += first[k];
      *two += second[k];
    }
  }
};

}  // namespace

void AddChannelSums(const float* u, int64_t channels, double* sums) noexcept {
  for (int64_t c = 0; c < channels; ++c, u += kTileVoxels) {
    Sums part;
    for (int64_t v = 0; v < kTileVoxels; v += kSums) {
      for (int64_t k = 0; k < kSums; ++k) {
        const auto x = static_cast<double>(u[v + k]);
        part.first[k] += x;
        part.second[k] += x * x;
      }
    }
    part.AddTo(sums + c, sums + channels + c);
  }
}

void ScaleShiftRelu(
    const float* u, int64_t channels, const float* scale, const float* shift, float* out) noexcept {
  for (int64_t c = 0; c < channels; ++c, u += kTileVoxels, out += kTileVoxels) {
    const float a = scale[c];
    const float b = shift[c];
    for (int64_t v = 0; v < kTileVoxels; ++v) out[v] = std::max(0.0f, a * u[v] + b);
  }
}

void ReluBack(
    const float* active, const float* u, int64_t channels, float* delta, double* sums) noexcept {
  for (int64_t c = 0; c < channels; ++c) {
    Sums part;
    for (int64_t v = 0; v < kTileVoxels; v += kSums) {
      for (int64_t k = 0; k < kSums; ++k) {
        const int64_t at = c * kTileVoxels + v + k;
        delta[at] = active[at] > 0.0f ? delta[at] : 0.0f;
        const auto d = static_cast<double>(delta[at]);
        part.first[k] += d;
        part.second[k] += d * static_cast<double>(u[at]);
      }
    }
    part.AddTo(sums + c, sums + channels + c);
  }
}

void NormaliseBack(const float* u, int64_t channels, const float* abk, float* delta) noexcept {
  for (int64_t c = 0; c < channels; ++c, u += kTileVoxels, delta += kTileVoxels) {
    const float a = abk[c];
    const float b = abk[channels + c];
    const float k = abk[2 * channels + c];
    for (int64_t v = 0; v < kTileVoxels; ++v) delta[v] = a * delta[v] + (b * u[v] + k);
  }
}

}  // namespace segcal
