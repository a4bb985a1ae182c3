// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "simulate/scenes.h"

namespace segcal {
namespace {

enum RoadRegion : uint8_t { kOffRoad, kOnRoad };

// A winding line from one side of the picture to the other, in short straight strokes.
void PaintRoad(double heading, double thickness, Rng* rng, Canvas* canvas) {
  constexpr int kSteps = 60;
  constexpr double kStep = 0.03;
  const Position centre{rng->Uniform(), rng->Uniform()};
  for (const double direction : {0.0, 3.141592653589793}) {
    Position at = centre;
    double angle = heading + direction;
    for (int i = 0; i < kSteps; ++i) {
      angle += 0.08 * rng->Normal();
      const Position next{at.x + kStep * std::cos(angle) / canvas->Aspect(),
                          at.y + kStep * std::sin(angle)};
      canvas->Stroke(at, next, thickness, {kOnRoad, 0.0f});
      at = next;
    }
  }
}

// Patches of fields from above, crossed by a loose grid of roads.
void PaintRoads(const CaseStreams& streams, Scene* scene) {
  Rng rng = streams.Of(StreamUse::kLayout);
  Canvas canvas(scene);
  canvas.Rectangle({0, 0}, {1, 1}, {kOffRoad, 0.0f});
  for (int i = 0; i < 30; ++i) {
    const Position corner{rng.Uniform() - 0.1, rng.Uniform() - 0.1};
    const Position end{corner.x + 0.1 + 0.2 * rng.Uniform(), corner.y + 0.1 + 0.2 * rng.Uniform()};
    canvas.Rectangle(corner, end, {kOffRoad, static_cast<float>(0.5 * rng.Uniform() - 0.25)});
  }
  const double grid = 1.5 * rng.Uniform();
  const int64_t num_roads = 6 + rng.Below(4);
  for (int64_t i = 0; i < num_roads; ++i) {
    const double across = i % 2 == 0 ? 0.0 : 1.5707963267948966;
    PaintRoad(grid + across, 0.012 + 0.016 * rng.Uniform(), &rng, &canvas);
  }
}

}  // namespace

const ScenePreset& RoadsPreset() {
  static const ScenePreset preset{
      .name = "roads",
      .summary = "roads seen from above: 2-D, 2 classes, thin structures",
      .regions = {{"background", kOffRoad, {0.40, 0.46, 0.26}},
                  {"road", kOffRoad, {0.66, 0.64, 0.62}}},
      .size = {384, 384},
      .spacing = {},
      .background = kOffRoad,
      .ignore_fraction = 0.0,
      .model = {.inside = 4,
                .context = 0.3,
                .noise = 0.9,
                .edge_length = 0.004,
                .context_length = 0.03,
                .noise_length = 0.02},
      .paint = &PaintRoads};
  return preset;
}

}  // namespace segcal
