// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/raster.h"

namespace segcal {

// In pixels, origin at the top left, y down.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct SvgBox {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;

  double right() const noexcept { return x + width; }
  double bottom() const noexcept { return y + height; }
};

struct Paint {
  std::optional<Rgb> fill = {};
  std::optional<Rgb> stroke = {};
  double stroke_width = 1.0;
  double radius = 0.0;  // of the corners
};

struct LineStyle {
  Rgb color = {};
  double width = 1.0;
  bool dashed = false;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12.0;
  Rgb color = {};
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  bool upwards = false;  // turned by 90 degrees, reading from below
};

// At most three decimals, no trailing zeros; not finite becomes 0, which a drawing survives.
std::string SvgNumber(double value);

// Text as XML content or attribute value; bytes that are not text are replaced.
std::string EscapeXml(std::string_view text);

// Writes one SVG document, element after element. Nothing in it depends on time, locale or machine.
class Svg {
 public:
  // A white card with a hairline frame; `title` is for screen readers and tooltips.
  Svg(double width, double height, std::string_view title);

  void AddRect(const SvgBox& box, const Paint& paint);
  void AddLine(Point from, Point to, const LineStyle& style);
  // Nothing for fewer than two points.
  void AddPolyline(const std::vector<Point>& points, const LineStyle& style);
  // `at` is on the baseline.
  void AddText(Point at, std::string_view text, const TextStyle& style);
  // The picture stretched to the box, inside the file. Pixels stay visible when enlarged.
  void AddImage(const SvgBox& box, const RgbImage& image);

  std::string Finish() &&;

 private:
  std::string body_;
};

}  // namespace segcal
