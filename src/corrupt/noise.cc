// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "corrupt/corruption.h"

namespace segcal {
namespace {

constexpr double kTwoPi = 6.283185307179586;

// Number n of the stream of standard normal numbers (CR3).
double NormalAt(const Rng& rng, int64_t n) noexcept {
  const auto at = static_cast<uint64_t>(2 * n);
  return std::sqrt(-2.0 * std::log(rng.UniformAt(at))) * std::cos(kTwoPi * rng.UniformAt(at + 1));
}

// Adds independent Gaussian noise to every channel of every pixel (CR2).
void AddNoise(const CorruptionInput& input, Plane* plane) {
  const double sigma = Choose(input.severity, 0.03, 0.10);
  for (int64_t i = 0; i < plane->size(); ++i) {
    float& value = plane->values[static_cast<size_t>(i)];
    const double noise = sigma * NormalAt(input.noise, input.first + i);
    value = static_cast<float>(static_cast<double>(value) + noise);
  }
}

}  // namespace

extern constinit const CorruptionInfo kNoise{.name = "noise",
                                             .summary = "Independent Gaussian noise.",
                                             .mild = "sigma 0.03",
                                             .strong = "sigma 0.10",
                                             .apply = &AddNoise};

}  // namespace segcal
