// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace segcal {

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;

  friend bool operator==(const Rgb&, const Rgb&) = default;
};

// A small picture in memory, rows from the top.
struct RgbImage {
  RgbImage() = default;
  RgbImage(int64_t columns, int64_t rows)
      : width(columns), height(rows), pixels(static_cast<size_t>(columns * rows)) {}

  int64_t width = 0;
  int64_t height = 0;
  std::vector<Rgb> pixels;  // [height][width]
};

// Every k-th pixel of every k-th row, with the smallest k that leaves no side longer than
// `max_side`. Labels must not be averaged, and the other panels must show the same pixels.
RgbImage Thin(const RgbImage& image, int64_t max_side);

// Every pixel as a square of `factor` pixels.
RgbImage Enlarge(const RgbImage& image, int64_t factor);

// The bytes of a PNG file: with a palette where 256 colours do, else 24-bit. The same picture gives
// the same bytes.
std::string EncodePng(const RgbImage& image);

// Base64 with padding (RFC 4648, section 4).
std::string Base64(std::string_view bytes);

}  // namespace segcal
