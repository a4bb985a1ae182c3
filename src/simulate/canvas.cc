// SPDX-License-Identifier: Apache-2.0
#include "simulate/canvas.h"

#include <algorithm>
#include <cmath>

#include "simulate/fields.h"

namespace segcal {

Scene::Scene(const std::vector<int64_t>& size)
    : shape(size),
      regions(static_cast<size_t>(segcal::NumVoxels(size)), 0),
      tint(regions.size(), 0.0f) {}

template <class Inside>
void Canvas::Fill(Position low, Position high, Brush brush, const Inside& inside) {
  const auto pixel_of = [](double edge, int64_t n) {
    return static_cast<int64_t>(std::floor(std::clamp(edge, -1.0, 2.0) * static_cast<double>(n)));
  };
  const int64_t y_end = std::min(pixel_of(high.y, height_) + 1, height_);
  const int64_t x_end = std::min(pixel_of(high.x, width_) + 1, width_);
  for (int64_t y = std::max<int64_t>(pixel_of(low.y, height_), 0); y < y_end; ++y) {
    for (int64_t x = std::max<int64_t>(pixel_of(low.x, width_), 0); x < x_end; ++x) {
      const Position centre{(static_cast<double>(x) + 0.5) / static_cast<double>(width_),
                            (static_cast<double>(y) + 0.5) / static_cast<double>(height_)};
      if (!inside(centre)) continue;
      const auto pixel = static_cast<size_t>(y * width_ + x);
      scene_.regions[pixel] = brush.region;
      scene_.tint[pixel] = brush.tint;
    }
  }
}

void Canvas::Rectangle(Position low, Position high, Brush brush) {
  Fill(low, high, brush, [&](Position p) {
    return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y;
  });
}

void Canvas::Ellipse(Position centre, Position radius, Brush brush) {
  const Position low{centre.x - radius.x, centre.y - radius.y};
  const Position high{centre.x + radius.x, centre.y + radius.y};
  Fill(low, high, brush, [&](Position p) {
    return std::hypot((p.x - centre.x) / radius.x, (p.y - centre.y) / radius.y) <= 1.0;
  });
}

void Canvas::Polygon(std::span<const Position> corners, Brush brush) {
  Position low = corners[0];
  Position high = corners[0];
  for (const Position& p : corners) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  // Even-odd rule: a ray to the right crosses the outline an odd number of times.
  Fill(low, high, brush, [&](Position p) {
    bool inside = false;
    for (size_t i = 0; i < corners.size(); ++i) {
      const Position a = corners[i];
      const Position b = corners[(i + 1) % corners.size()];
      if ((a.y > p.y) == (b.y > p.y)) continue;
      if (p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)) inside = !inside;
    }
    return inside;
  });
}

void Canvas::Stroke(Position from, Position to, double thickness, Brush brush) {
  const double aspect = Aspect();
  const double dx = (to.x - from.x) * aspect;
  const double dy = to.y - from.y;
  const double length2 = std::max(dx * dx + dy * dy, 1e-12);
  const double half = 0.5 * thickness;
  const Position low{std::min(from.x, to.x) - half / aspect, std::min(from.y, to.y) - half};
  const Position high{std::max(from.x, to.x) + half / aspect, std::max(from.y, to.y) + half};
  Fill(low, high, brush, [&](Position p) {
    const double px = (p.x - from.x) * aspect;
    const double py = p.y - from.y;
    const double along = std::clamp((px * dx + py * dy) / length2, 0.0, 1.0);
    return std::hypot(px - along * dx, py - along * dy) <= half;
  });
}

double Ellipsoid::Distance(const std::vector<int64_t>& shape, int64_t voxel) const noexcept {
  double sum = 0.0;
  for (size_t axis = shape.size(); axis-- > 0; voxel /= shape[axis]) {
    const auto position = static_cast<double>(voxel % shape[axis]) + 0.5;
    const double d = (position / static_cast<double>(shape[axis]) - centre[axis]) / radius[axis];
    sum += d * d;
  }
  return std::sqrt(sum);
}

Ellipsoid RandomEllipsoid(size_t rank, double smallest, double largest, Rng* rng) {
  Ellipsoid result;
  for (size_t axis = 0; axis < rank; ++axis) {
    result.radius.push_back(smallest + (largest - smallest) * rng->Uniform());
    result.centre.push_back(0.25 + 0.5 * rng->Uniform());
  }
  return result;
}

}  // namespace segcal
