// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "simulate/scenes.h"

namespace segcal {
namespace {

enum StreetRegion : uint8_t {
  kBuilding,
  kRoad,
  kSky,
  kTree,
  kSidewalk,
  kCar,
  kPerson,
  kPole,
  kFence,
  kSign,
  kBicycle,
  kMarking,
};

// A street seen along its axis. Depth runs from 0 at the horizon to 1 at the lower border; sizes
// grow with depth.
class StreetPainter {
 public:
  StreetPainter(const Rng& rng, Scene* scene)
      : rng_(rng), canvas_(scene), horizon_{In(0.42, 0.58), In(0.36, 0.46)} {}

  void Paint() {
    canvas_.Rectangle({0, 0}, {1, 1}, {kSky, 0.0f});
    Background();
    Ground();
    Buildings(/*side=*/-1.0);
    Buildings(/*side=*/1.0);
    Roadside(-1.0);
    Roadside(1.0);
    Traffic();
  }

 private:
  // Half the width of the road at the horizon, and what the lower border adds; the whole street
  // with its sidewalks is wider by kStreetWidth.
  static constexpr double kFarWidth = 0.02;
  static constexpr double kNearWidth = 0.42;
  static constexpr double kStreetWidth = 2.4;

  double In(double low, double high) { return low + (high - low) * rng_.Uniform(); }
  float Shade(double size) { return static_cast<float>(In(-size, size)); }
  int64_t Count(int64_t low, int64_t high) { return low + rng_.Below(high - low + 1); }

  // The ground position `across` half road widths (-1 and 1: the kerbs) from the axis at a depth.
  Position OnGround(double across, double depth) const {
    const double half_width = kFarWidth + kNearWidth * depth;
    return {horizon_.x + across * half_width, horizon_.y + depth * (1.0 - horizon_.y)};
  }
  Position Radius(double x, double y) const { return {x / canvas_.Aspect(), y}; }

  void Background() {
    for (int64_t i = Count(6, 10); i > 0; --i) {
      canvas_.Ellipse(
          {In(0.2, 0.8), horizon_.y}, Radius(In(0.05, 0.12), In(0.03, 0.09)), {kTree, Shade(0.2)});
    }
  }

  // A row of houses along the outer edge of the sidewalk, from the vanishing point to the border.
  void Buildings(double side) {
    double distance = In(0.06, 0.1);
    while (distance < 0.65) {
      const double width = In(0.06, 0.16) * (0.5 + distance);
      const double near = horizon_.x + side * distance;
      const double far = near + side * width;
      const double depth = (distance / kStreetWidth - kFarWidth) / kNearWidth;
      House({std::min(near, far), horizon_.y - 0.05 - distance * In(0.45, 0.85)},
            {std::max(near, far), OnGround(0.0, depth).y});
      distance += width + (rng_.Uniform() < 0.25 ? In(0.01, 0.04) : 0.0);
    }
  }

  void House(Position low, Position high) {
    const float shade = Shade(0.3);
    canvas_.Rectangle(low, high, {kBuilding, shade});
    const Position pitch{(high.x - low.x) / 4.0, (high.y - low.y) / 6.0};
    for (int row = 0; row < 5; ++row) {
      for (int column = 0; column < 4; ++column) {
        const Position corner{low.x + (column + 0.3) * pitch.x, low.y + (row + 0.4) * pitch.y};
        canvas_.Rectangle(corner,
                          {corner.x + 0.4 * pitch.x, corner.y + 0.45 * pitch.y},
                          {kBuilding, shade - 0.25f});
      }
    }
  }

  void Ground() {
    canvas_.Rectangle({0.0, horizon_.y}, {1.0, 1.0}, {kSidewalk, Shade(0.1)});
    canvas_.Polygon(
        std::vector<Position>{OnGround(-1, 0), OnGround(1, 0), OnGround(1, 1), OnGround(-1, 1)},
        {kRoad, Shade(0.1)});
    for (double depth = 0.04; depth < 1.0; depth *= 1.45) Dash(depth, 1.2 * depth);
  }

  void Dash(double from, double to) {
    const double half = 0.035;
    canvas_.Polygon(
        std::vector<Position>{
            OnGround(-half, from), OnGround(half, from), OnGround(half, to), OnGround(-half, to)},
        {kMarking, 0.0f});
  }

  // From far to near, so that near things cover far ones.
  void Roadside(double side) {
    if (rng_.Uniform() < 0.6) Fence(side);
    double depth = In(0.08, 0.14);
    while (depth < 0.9) {
      const double kind = rng_.Uniform();
      const Position foot = OnGround(side * In(1.2, 1.9), depth);
      if (kind < 0.35)
        Tree(foot, depth);
      else if (kind < 0.6)
        Pole(foot, depth);
      else if (kind < 0.85)
        Person(foot, depth);
      else
        Cyclist(OnGround(side * In(0.7, 1.1), depth), depth);
      depth += In(0.07, 0.22);
    }
  }

  void Fence(double side) {
    const double near = In(0.5, 0.9);
    const Position far_foot = OnGround(side * 2.0, 0.1);
    const Position near_foot = OnGround(side * 2.0, near);
    canvas_.Polygon(std::vector<Position>{far_foot,
                                          near_foot,
                                          {near_foot.x, near_foot.y - 0.22 * near},
                                          {far_foot.x, far_foot.y - 0.022}},
                    {kFence, Shade(0.15)});
  }

  void Tree(Position foot, double depth) {
    const double height = (0.35 + In(0.0, 0.15)) * (0.3 + depth);
    canvas_.Stroke(foot, {foot.x, foot.y - height}, 0.03 * depth + 0.004, {kTree, -0.3f});
    for (int i = 0; i < 4; ++i) {
      const Position crown{foot.x + In(-0.08, 0.08) * depth, foot.y - height * In(0.8, 1.2)};
      canvas_.Ellipse(crown,
                      Radius(In(0.1, 0.16) * (0.2 + depth), In(0.1, 0.16) * (0.2 + depth)),
                      {kTree, Shade(0.2)});
    }
  }

  void Pole(Position foot, double depth) {
    const Position top{foot.x, foot.y - 0.55 * (0.15 + depth)};
    canvas_.Stroke(foot, top, 0.012 + 0.012 * depth, {kPole, Shade(0.1)});
    const double size = 0.03 + 0.05 * depth;
    if (rng_.Uniform() < 0.7) canvas_.Ellipse(top, Radius(size, size), {kSign, Shade(0.3)});
  }

  void Person(Position foot, double depth) {
    const double height = 0.06 + 0.3 * depth;
    const float shade = Shade(0.4);
    canvas_.Ellipse({foot.x, foot.y - 0.25 * height},
                    Radius(0.11 * height, 0.27 * height),
                    {kPerson, shade - 0.2f});
    canvas_.Ellipse(
        {foot.x, foot.y - 0.6 * height}, Radius(0.16 * height, 0.25 * height), {kPerson, shade});
    canvas_.Ellipse(
        {foot.x, foot.y - 0.92 * height}, Radius(0.09 * height, 0.1 * height), {kPerson, 0.3f});
  }

  void Cyclist(Position foot, double depth) {
    const double size = 0.02 + 0.06 * depth;
    const double apart = size / canvas_.Aspect();
    canvas_.Ellipse(
        {foot.x - apart, foot.y - 0.8 * size}, Radius(0.8 * size, 0.8 * size), {kBicycle, 0.0f});
    canvas_.Ellipse(
        {foot.x + apart, foot.y - 0.8 * size}, Radius(0.8 * size, 0.8 * size), {kBicycle, 0.0f});
    Person({foot.x, foot.y - 0.9 * size}, 0.9 * depth);
  }

  void Traffic() {
    double depth = In(0.05, 0.12);
    while (depth < 0.75) {
      Car(OnGround(rng_.Uniform() < 0.5 ? In(-0.75, -0.4) : In(0.4, 0.75), depth), depth);
      depth *= In(1.5, 2.4);
    }
  }

  void Car(Position foot, double depth) {
    const double size = 0.03 + 0.2 * depth;  // half the width of the car, in parts of the height
    const double half = size / canvas_.Aspect();
    const float shade = Shade(0.5);
    canvas_.Ellipse(
        {foot.x - 0.7 * half, foot.y - 0.12 * size}, Radius(0.2 * size, 0.2 * size), {kCar, -0.8f});
    canvas_.Ellipse(
        {foot.x + 0.7 * half, foot.y - 0.12 * size}, Radius(0.2 * size, 0.2 * size), {kCar, -0.8f});
    canvas_.Rectangle({foot.x - half, foot.y - 0.75 * size},
                      {foot.x + half, foot.y - 0.12 * size},
                      {kCar, shade});
    const double roof = foot.y - 1.35 * size;
    const double sill = foot.y - 0.75 * size;
    canvas_.Polygon(std::vector<Position>{{foot.x - 0.85 * half, sill},
                                          {foot.x - 0.6 * half, roof},
                                          {foot.x + 0.6 * half, roof},
                                          {foot.x + 0.85 * half, sill}},
                    {kCar, shade});
    canvas_.Rectangle(
        {foot.x - 0.55 * half, roof + 0.1 * size}, {foot.x + 0.55 * half, sill}, {kCar, -0.6f});
  }

  Rng rng_;
  Canvas canvas_;
  Position horizon_;  // the vanishing point
};

void PaintStreet(const CaseStreams& streams, Scene* scene) {
  StreetPainter(streams.Of(StreamUse::kLayout), scene).Paint();
}

}  // namespace

const ScenePreset& StreetPreset() {
  static const ScenePreset preset{
      .name = "street",
      .summary = "a street seen from a car: 2-D, 12 classes, some voxels void",
      .regions = {{"building", kBuilding, {0.55, 0.46, 0.40}},
                  {"road", kBuilding, {0.36, 0.36, 0.38}},
                  {"sky", kBuilding, {0.62, 0.76, 0.92}},
                  {"tree", kBuilding, {0.24, 0.42, 0.20}},
                  {"sidewalk", kRoad, {0.60, 0.58, 0.55}},
                  {"car", kRoad, {0.55, 0.20, 0.20}},
                  {"person", kCar, {0.55, 0.42, 0.36}},
                  {"pole", kBuilding, {0.45, 0.45, 0.45}},
                  {"fence", kBuilding, {0.48, 0.36, 0.24}},
                  {"sign", kPole, {0.82, 0.66, 0.14}},
                  {"bicycle", kPerson, {0.14, 0.20, 0.32}},
                  {"marking", kRoad, {0.88, 0.88, 0.85}}},
      .size = {360, 480},
      .spacing = {},
      .background = std::nullopt,
      .ignore_fraction = 0.03,
      .model = {.inside = 2.8,
                .context = 0.8,
                .noise = 1.25,
                .edge_length = 0.005,
                .context_length = 0.04,
                .noise_length = 0.03},
      .paint = &PaintStreet};
  return preset;
}

}  // namespace segcal
