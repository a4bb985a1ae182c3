// SPDX-License-Identifier: Apache-2.0
#include "report/colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/throw.h"

namespace segcal {
namespace {

constexpr Rgb kHandPicked[] = {
    {0x2F, 0x6D, 0xB5}, {0xE8, 0x83, 0x3A}, {0x2A, 0x9D, 0x6F}, {0xB3, 0x26, 0x3B},
    {0xF2, 0xCE, 0x3E}, {0x55, 0x2A, 0x86}, {0x63, 0xC2, 0xE8}, {0x5A, 0x34, 0x13},
    {0xEE, 0x8F, 0xB8}, {0x12, 0x65, 0x6B}, {0xA6, 0xC9, 0x3B}, {0x1F, 0x2F, 0x78},
    {0xF2, 0xB4, 0x8A}, {0xC2, 0x3F, 0xA6}, {0x6B, 0x70, 0x14}, {0xA9, 0x9F, 0xF0},
    {0xD9, 0x4F, 0x2B}, {0x8F, 0xD9, 0xB6}, {0x6E, 0x10, 0x46}, {0xB0, 0x8D, 0x57}};

// A colour in the cylinder of OKLab, a space in which equal steps look equally large.
struct Lch {
  double lightness;  // 0 black, 1 white
  double chroma;
  double hue;  // degrees
};

// Linear light of the sRGB primaries; outside [0, 1] the screen cannot show the colour.
std::array<double, 3> LinearRgb(const Lch& color) noexcept {
  const double angle = color.hue * 3.14159265358979323846 / 180.0;
  const double a = color.chroma * std::cos(angle);
  const double b = color.chroma * std::sin(angle);
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(color.lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(color.lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(color.lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool IsShowable(const std::array<double, 3>& rgb) noexcept {
  return std::all_of(rgb.begin(), rgb.end(), [](double x) { return x >= 0.0 && x <= 1.0; });
}

uint8_t EncodeChannel(double linear) noexcept {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1.0 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255.0 * encoded));
}

// Keeps lightness and hue, and as much of the chroma as the screen has.
Rgb ToRgb(Lch color) noexcept {
  std::array<double, 3> rgb = LinearRgb(color);
  while (!IsShowable(rgb) && color.chroma > 1e-3) {
    color.chroma *= 0.98;
    rgb = LinearRgb(color);
  }
  return {EncodeChannel(rgb[0]), EncodeChannel(rgb[1]), EncodeChannel(rgb[2])};
}

Lch OnMap(ColorMap map, double t) noexcept {
  const double lightness = 0.22 + 0.73 * t;
  if (map == ColorMap::kSequential) return {lightness, 0.13, 300.0 - 195.0 * t};
  return {lightness, 0.17, -50.0 + 150.0 * t};
}

}  // namespace

std::string HexColor(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

Rgb Mix(Rgb first, Rgb second, double share) noexcept {
  const auto mix = [share](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround((1.0 - share) * a + share * b));
  };
  return {mix(first.red, second.red), mix(first.green, second.green), mix(first.blue, second.blue)};
}

Rgb ParseColor(const std::string& text) {
  uint32_t value = 0;
  const char* end = text.data() + text.size();
  const bool framed = text.size() == 7 && text[0] == '#';
  const auto read = std::from_chars(text.data() + (framed ? 1 : 0), end, value, 16);
  if (!framed || read.ec != std::errc() || read.ptr != end)
    Throw(ErrorCode::kInvalidArgument, "colour \"{}\": #rrggbb is required", text);
  return {static_cast<uint8_t>(value >> 16),
          static_cast<uint8_t>(value >> 8),
          static_cast<uint8_t>(value)};
}

Rgb ClassColor(int64_t index) noexcept {
  const auto num_picked = static_cast<int64_t>(std::size(kHandPicked));
  if (index < num_picked) return kHandPicked[index];
  const int64_t n = index - num_picked;
  constexpr double kLightness[] = {0.62, 0.80, 0.45, 0.71};
  const double hue = std::fmod(137.50776405 * static_cast<double>(n) + 20.0, 360.0);
  return ToRgb({kLightness[n % 4], n % 8 < 4 ? 0.15 : 0.09, hue});
}

std::vector<Rgb> ClassColors(size_t num_classes,
                             int64_t background,
                             const std::vector<std::string>& given) {
  std::vector<Rgb> colors;
  for (size_t c = 0; c < num_classes; ++c) {
    const auto index = static_cast<int64_t>(c);
    if (!given.empty()) {
      colors.push_back(ParseColor(given.at(c)));
    } else {
      colors.push_back(index == background ? kCalm : ClassColor(index));
    }
  }
  return colors;
}

MapColors FindColors(ColorMap map) noexcept {
  MapColors colors;
  for (size_t i = 0; i < colors.size(); ++i) {
    colors[i] = ToRgb(OnMap(map, static_cast<double>(i) / (kMapSteps - 1)));
  }
  return colors;
}

size_t MapStep(double position) noexcept {
  if (!(position > 0.0)) return 0;  // also NaN
  return static_cast<size_t>(std::lround(std::min(position, 1.0) * (kMapSteps - 1)));
}

}  // namespace segcal
