// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/rng.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "tests/support/scene.h"

// Scenes whose labels are drawn from a known map, for the tests of calibrators that contain it.
namespace segcal::testing {

using ScoreMap = std::function<std::vector<double>(const std::vector<double>& logits)>;

inline std::vector<double> Softmax(std::vector<double> scores) {
  double largest = scores[0];
  for (const double s : scores) largest = std::max(largest, s);
  double sum = 0.0;
  for (double& s : scores) sum += s = std::exp(s - largest);
  for (double& s : scores) s /= sum;
  return scores;
}

inline std::vector<double> LogitsAt(const Scene& scene, size_t case_index, size_t v) {
  const auto n = static_cast<size_t>(scene.num_voxels());
  std::vector<double> z;
  for (size_t i = v; i < scene.logits[case_index][0].size(); i += n) {
    z.push_back(static_cast<double>(scene.logits[case_index][0][i]));
  }
  return z;
}

struct KnownScene {
  Scene scene;
  double true_nll = 0.0;  // mean loss of the true map on these labels
};

// Independent voxels without offset between them, labels from softmax(map(z)).
inline KnownScene DrawFrom(const ScoreMap& map, int64_t num_classes, uint64_t seed = 5) {
  KnownScene known;
  known.scene = RandomScene({.seed = seed,
                             .num_cases = 2,
                             .num_classes = num_classes,
                             .shape = {150, 160},
                             .ignored = 0.05,
                             .offset = 0.0});
  Rng rng(seed, 99);
  int64_t count = 0;
  for (size_t c = 0; c < known.scene.labels.size(); ++c) {
    for (size_t v = 0; v < known.scene.labels[c].size(); ++v) {
      int32_t& label = known.scene.labels[c][v];
      if (label == 255) continue;
      const std::vector<double> q = Softmax(map(LogitsAt(known.scene, c, v)));
      double left = rng.Uniform();
      label = 0;
      while (label + 1 < num_classes && left > q[static_cast<size_t>(label)]) {
        left -= q[static_cast<size_t>(label++)];
      }
      known.true_nll -= std::log(q[static_cast<size_t>(label)]);
      ++count;
    }
  }
  known.true_nll /= static_cast<double>(count);
  return known;
}

inline Model FitTo(const Scene& scene, const std::string& pipeline) {
  return FitStream(*scene.Stream(2), ParsePipeline(pipeline), 3);
}

inline double LossOf(const Model& model) { return model.report().nll_after; }

// The largest projected gradient over the experts.
inline double ResidualOf(const Model& model) {
  double residual = 0.0;
  for (const Certificate& c : model.report().certificates) {
    residual = std::max(residual, c.gradient);
  }
  return residual;
}

// weights[expert][row][column] of a fitted affine model.
inline double WeightOf(const Model& model, size_t expert, size_t row, size_t column) {
  return ModelAccess::State(model)
      .calibrator->Parameters()["experts"][expert]["weights"][row][column]
      .get<double>();
}

}  // namespace segcal::testing
