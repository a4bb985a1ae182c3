// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scene.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "formats/array.h"

namespace segcal::testing {
namespace {

constexpr int64_t kIgnore = 255;

double Rounded(double value) { return std::nearbyint(value * 256.0) / 256.0; }

// A draw from softmax(beta * scores).
int32_t DrawLabel(const std::vector<double>& scores, double beta, Rng* rng) {
  double best = -INFINITY;
  int32_t label = 0;
  for (size_t c = 0; c < scores.size(); ++c) {
    const double gumbel = beta * scores[c] - std::log(-std::log(rng->Uniform()));
    if (gumbel <= best) continue;
    best = gumbel;
    label = static_cast<int32_t>(c);
  }
  return label;
}

}  // namespace

int64_t Scene::num_voxels() const {
  int64_t n = 1;
  for (const int64_t s : shape) n *= s;
  return n;
}

std::unique_ptr<CaseStream> Scene::Stream(int threads) const {
  StreamOptions options;
  options.threads = threads;
  return std::make_unique<CaseStream>(InMemory(), std::vector<Pooling>{{}}, options);
}

Dataset Scene::InMemory() const {
  Dataset result = dataset;
  std::vector<int64_t> scores = shape;
  scores.insert(scores.begin(), dataset.num_classes());
  for (size_t c = 0; c < logits.size(); ++c) {
    Case& entry = result.cases[c];
    entry.members.clear();
    for (const auto& member : logits[c])
      entry.members.emplace_back(MakeView(member.data(), scores));
    entry.labels = MakeView(labels[c].data(), shape);
    if (!masks.empty()) entry.mask = MakeView(masks[c].data(), shape);
  }
  return result;
}

Scene RandomScene(const SceneOptions& options) {
  Scene scene;
  scene.shape = options.shape;
  scene.dataset.name = "scene";
  scene.dataset.input = InputKind::kLogits;
  scene.dataset.ignore_label = kIgnore;
  for (int64_t c = 0; c < options.num_classes; ++c)
    scene.dataset.classes.push_back("class" + std::to_string(c));
  const int64_t n = scene.num_voxels();
  for (int64_t i = 0; i < options.num_cases; ++i) {
    Rng rng(options.seed, static_cast<uint64_t>(i));
    Case entry;
    entry.id = "case" + std::to_string(i);
    auto& members =
        scene.logits.emplace_back(static_cast<size_t>(options.num_members),
                                  std::vector<float>(static_cast<size_t>(n * options.num_classes)));
    auto& labels = scene.labels.emplace_back(static_cast<size_t>(n));
    for (int64_t v = 0; v < n; ++v) {
      std::vector<double> mean(static_cast<size_t>(options.num_classes), 0.0);
      const double offset = options.offset * rng.Normal();
      for (auto& member : members) {
        for (int64_t c = 0; c < options.num_classes; ++c) {
          const double z = Rounded(std::clamp(options.scale * rng.Normal() + offset, -64.0, 64.0));
          member[static_cast<size_t>(c * n + v)] = static_cast<float>(z);
          mean[static_cast<size_t>(c)] += z / static_cast<double>(members.size());
        }
      }
      const bool ignored = rng.Uniform() < options.ignored;
      labels[static_cast<size_t>(v)] =
          ignored ? static_cast<int32_t>(kIgnore) : DrawLabel(mean, options.true_beta, &rng);
    }
    entry.members.assign(members.size(), "memory");
    scene.dataset.cases.push_back(std::move(entry));
  }
  return scene;
}

Scene WithoutTies(Scene scene) {
  const auto n = static_cast<size_t>(scene.num_voxels());
  const auto num_classes = static_cast<size_t>(scene.dataset.num_classes());
  for (auto& members : scene.logits) {
    for (size_t v = 0; v < n; ++v) {
      for (size_t c = 0; c < num_classes; ++c) {
        members[0][c * n + v] += static_cast<float>((v * 7 + c * 31) % 251) * 0x1p-16f;
      }
    }
  }
  return scene;
}

}  // namespace segcal::testing
