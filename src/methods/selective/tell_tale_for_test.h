// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "core/rng.h"
#include "methods/selective/selector_network.h"
#include "tests/support/scene.h"

namespace segcal::testing {

inline constexpr int64_t kTellTaleClasses = 3;

// Confident decisions; in those that are wrong, and in no other, one class is all but excluded:
// what a selector can see and a temperature cannot. With precision below 1, some that look so are
// right.
inline Scene TellTale(double wrong_share = 0.3, double precision = 1.0) {
  Scene scene = RandomScene({.num_cases = 3, .num_classes = kTellTaleClasses, .shape = {64, 60}});
  Rng rng(/*seed=*/11, /*stream=*/0);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t v = 0; v < n; ++v) {
      const auto winner = static_cast<size_t>(rng.Below(kTellTaleClasses));
      const size_t second = (winner + 1) % kTellTaleClasses;
      const size_t third = (winner + 2) % kTellTaleClasses;
      const bool wrong = rng.Uniform() < wrong_share;
      std::vector<float>& z = scene.logits[i][0];
      z[winner * n + v] = 9.0f;
      z[second * n + v] = static_cast<float>(3.0 - rng.Uniform());
      z[third * n + v] = static_cast<float>(wrong ? -5.0 - rng.Uniform() : 3.0 - rng.Uniform());
      if (scene.labels[i][v] != 255) {
        const bool is_wrong = wrong && rng.Uniform() < precision;
        scene.labels[i][v] = static_cast<int32_t>(is_wrong ? second : winner);
      }
    }
  }
  return scene;
}

// Flags a voxel if a log-probability is below -10: for a tell-tale scene, if its decision is wrong.
inline Json OracleSelector() {
  const SelectorShape shape(kTellTaleClasses);
  std::vector<double> x(static_cast<size_t>(shape.size()), 0.0);
  const auto at = [&](int64_t i) -> double& { return x[static_cast<size_t>(i)]; };
  for (int64_t c = 0; c < kTellTaleClasses; ++c) {
    at(shape.weights(0) + c * kTellTaleClasses + c) = 1.0;
    at(shape.gamma(0) + c) = -1.0;
    at(shape.beta(0) + c) = -10.0;
    at(shape.weights(1) + c) = 1.0;
  }
  at(shape.weights(2)) = 1.0;
  at(shape.weights(3) + kTellTaleClasses) = 1.0;
  at(shape.gamma(1)) = at(shape.gamma(2)) = 1.0;
  at(shape.bias()) = 1e-6;
  SelectorStatistics statistics;
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    const auto channels = static_cast<size_t>(shape.outputs(layer));
    statistics.mean[static_cast<size_t>(layer)].assign(channels, 0.0);
    statistics.variance[static_cast<size_t>(layer)].assign(channels, 1.0 - kVarianceFloor);
  }
  return Selector(shape, x, statistics).ToJson();
}

}  // namespace segcal::testing
