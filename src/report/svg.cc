// SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "report/colors.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr const char* kFonts =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif";

std::string Attribute(const char* name, double value) {
  return fmt::format(" {}=\"{}\"", name, SvgNumber(value));
}

std::string Attribute(const char* name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, value);
}

std::string BoxAttributes(const SvgBox& box) {
  return Attribute("x", box.x) + Attribute("y", box.y) + Attribute("width", box.width) +
         Attribute("height", box.height);
}

const char* AnchorName(Anchor anchor) noexcept {
  return anchor == Anchor::kStart ? "start" : (anchor == Anchor::kMiddle ? "middle" : "end");
}

}  // namespace

std::string SvgNumber(double value) {
  std::string digits = FormatNumber(std::isfinite(value) ? value : 0.0, 3);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : CleanText(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped.push_back(c);
    }
  }
  return escaped;
}

Svg::Svg(double width, double height, std::string_view title) {
  const std::string w = SvgNumber(width);
  const std::string h = SvgNumber(height);
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "role=\"img\" font-family=\"{2}\">\n<title>{3}</title>\n",
      w,
      h,
      kFonts,
      EscapeXml(title));
  AddRect({0.5, 0.5, width - 1.0, height - 1.0}, {.fill = kPaper, .stroke = kRule, .radius = 8.0});
}

void Svg::AddRect(const SvgBox& box, const Paint& paint) {
  body_ += "<rect" + BoxAttributes(box);
  if (paint.radius > 0.0) body_ += Attribute("rx", paint.radius);
  body_ += Attribute("fill", paint.fill ? HexColor(*paint.fill) : "none");
  if (paint.stroke) {
    body_ += Attribute("stroke", HexColor(*paint.stroke)) +
             Attribute("stroke-width", paint.stroke_width);
  }
  body_ += "/>\n";
}

void Svg::AddLine(Point from, Point to, const LineStyle& style) {
  body_ += "<line" + Attribute("x1", from.x) + Attribute("y1", from.y) + Attribute("x2", to.x) +
           Attribute("y2", to.y) + Attribute("stroke", HexColor(style.color)) +
           Attribute("stroke-width", style.width);
  if (style.dashed) body_ += Attribute("stroke-dasharray", std::string_view("5 4"));
  body_ += "/>\n";
}

void Svg::AddPolyline(const std::vector<Point>& points, const LineStyle& style) {
  if (points.size() < 2) return;
  std::string list;
  for (const Point& point : points) {
    list += fmt::format("{}{},{}", list.empty() ? "" : " ", SvgNumber(point.x), SvgNumber(point.y));
  }
  body_ += "<polyline" + Attribute("points", std::string_view(list)) +
           Attribute("fill", std::string_view("none")) +
           Attribute("stroke", HexColor(style.color)) + Attribute("stroke-width", style.width) +
           Attribute("stroke-linejoin", std::string_view("round"));
  if (style.dashed) body_ += Attribute("stroke-dasharray", std::string_view("5 4"));
  body_ += "/>\n";
}

void Svg::AddText(Point at, std::string_view text, const TextStyle& style) {
  body_ += "<text" + Attribute("x", at.x) + Attribute("y", at.y) +
           Attribute("font-size", style.size) + Attribute("fill", HexColor(style.color));
  if (style.anchor != Anchor::kStart) {
    body_ += Attribute("text-anchor", std::string_view(AnchorName(style.anchor)));
  }
  if (style.bold) body_ += Attribute("font-weight", std::string_view("600"));
  if (style.upwards) {
    body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", SvgNumber(at.x), SvgNumber(at.y));
  }
  body_ += ">" + EscapeXml(text) + "</text>\n";
}

void Svg::AddImage(const SvgBox& box, const RgbImage& image) {
  const bool is_enlarged = static_cast<double>(image.width) < box.width;
  body_ += "<image" + BoxAttributes(box) + " preserveAspectRatio=\"none\"";
  if (is_enlarged) body_ += " style=\"image-rendering:pixelated\"";
  body_ += " href=\"data:image/png;base64,";
  body_ += Base64(EncodePng(image));
  body_ += "\"/>\n";
}

std::string Svg::Finish() && {
  body_ += "</svg>\n";
  return std::move(body_);
}

}  // namespace segcal
