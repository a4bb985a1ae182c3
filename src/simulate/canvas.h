// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"

namespace segcal {

// What is where, before any blur or noise: the region each voxel belongs to, and how bright the
// object is that covers it (for pictures, about 0).
struct Scene {
  explicit Scene(const std::vector<int64_t>& size);
  int64_t NumVoxels() const noexcept { return static_cast<int64_t>(regions.size()); }

  std::vector<int64_t> shape;
  std::vector<uint8_t> regions;
  std::vector<float> tint;
};

// A position in the picture: x to the right, y downward, both 0 to 1.
struct Position {
  double x = 0.0;
  double y = 0.0;
};

// How to fill a shape.
struct Brush {
  uint8_t region = 0;
  float tint = 0.0f;
};

// Draws filled shapes on a 2-D scene, later ones over earlier ones; what lies outside is cut off.
class Canvas {
 public:
  explicit Canvas(Scene* scene)
      : scene_(*scene), height_(scene->shape[0]), width_(scene->shape[1]) {}

  // Width over height of the picture: multiply a height by 1/Aspect() for an equally long width.
  double Aspect() const noexcept {
    return static_cast<double>(width_) / static_cast<double>(height_);
  }
  void Rectangle(Position low, Position high, Brush brush);
  void Ellipse(Position centre, Position radius, Brush brush);
  void Polygon(std::span<const Position> corners, Brush brush);
  // A straight stroke; `thickness` in parts of the height.
  void Stroke(Position from, Position to, double thickness, Brush brush);

 private:
  // Fills the pixels of the bounding box whose centre is inside the shape.
  template <class Inside>
  void Fill(Position low, Position high, Brush brush, const Inside& inside);

  Scene& scene_;
  int64_t height_;
  int64_t width_;
};

// Voxels whose centre lies in an axis-parallel ellipsoid; centre and radius in parts of each axis.
struct Ellipsoid {
  std::vector<double> centre;
  std::vector<double> radius;
  // Distance from the centre in radii: 1 on the surface.
  double Distance(const std::vector<int64_t>& shape, int64_t voxel) const noexcept;
};

Ellipsoid RandomEllipsoid(size_t rank, double smallest, double largest, Rng* rng);

}  // namespace segcal
