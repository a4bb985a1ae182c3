// SPDX-License-Identifier: Apache-2.0
#include "report/raster.h"

#include <png.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "core/throw.h"

namespace segcal {
namespace {

// A picture as indices into its colours, in order of first appearance.
struct Indexed {
  std::vector<uint8_t> indices;
  std::vector<Rgb> palette;
};

// Nothing if there are more than 256 colours.
std::optional<Indexed> IndexColors(const RgbImage& image) {
  Indexed indexed;
  indexed.indices.reserve(image.pixels.size());
  std::unordered_map<uint32_t, uint8_t> index_of;
  for (const Rgb& pixel : image.pixels) {
    const uint32_t key = pixel.red * 65536u + pixel.green * 256u + pixel.blue;
    const auto [entry, is_new] = index_of.try_emplace(key, static_cast<uint8_t>(index_of.size()));
    if (index_of.size() > 256) return std::nullopt;
    if (is_new) indexed.palette.push_back(pixel);
    indexed.indices.push_back(entry->second);
  }
  return indexed;
}

std::string WritePng(png_image* header, const void* pixels, const void* palette) {
  // Deflate never grows data by more than a few bytes per 16 KiB; chunk headers and palette fit the
  // rest.
  const size_t raw = PNG_IMAGE_SIZE(*header) + header->height;
  png_alloc_size_t size = raw + raw / 1000 + 4096;
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(header, bytes.data(), &size, 0, pixels, 0, palette) == 0) {
    Throw(ErrorCode::kInvalidArgument,
          "picture of {} x {} pixels: cannot be written as PNG: {}",
          header->width,
          header->height,
          static_cast<const char*>(header->message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

RgbImage Thin(const RgbImage& image, int64_t max_side) {
  const int64_t step = (std::max(image.width, image.height) + max_side - 1) / max_side;
  if (step <= 1) return image;
  RgbImage thin((image.width + step - 1) / step, (image.height + step - 1) / step);
  for (int64_t y = 0; y < thin.height; ++y) {
    for (int64_t x = 0; x < thin.width; ++x) {
      thin.pixels[static_cast<size_t>(y * thin.width + x)] =
          image.pixels[static_cast<size_t>(y * step * image.width + x * step)];
    }
  }
  return thin;
}

RgbImage Enlarge(const RgbImage& image, int64_t factor) {
  RgbImage large(image.width * factor, image.height * factor);
  for (int64_t y = 0; y < large.height; ++y) {
    for (int64_t x = 0; x < large.width; ++x) {
      large.pixels[static_cast<size_t>(y * large.width + x)] =
          image.pixels[static_cast<size_t>(y / factor * image.width + x / factor)];
    }
  }
  return large;
}

std::string EncodePng(const RgbImage& image) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  if (const auto indexed = IndexColors(image)) {
    header.format = PNG_FORMAT_RGB_COLORMAP;
    header.colormap_entries = static_cast<png_uint_32>(indexed->palette.size());
    return WritePng(&header, indexed->indices.data(), indexed->palette.data());
  }
  header.format = PNG_FORMAT_RGB;
  return WritePng(&header, image.pixels.data(), nullptr);
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;  // three bytes, missing ones zero
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text.push_back(k <= count ? kDigits[group >> (18 - 6 * k) & 63u] : '=');
    }
  }
  return text;
}

}  // namespace segcal
