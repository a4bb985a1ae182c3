// SPDX-License-Identifier: Apache-2.0
#include "formats/jpeg.h"

#include <cmath>
#include <vector>

#include "corrupt/corruption.h"

namespace segcal {
namespace {

// The channels [first, first + count) of a plane in 8 bits (CR7).
std::vector<uint8_t> ToBytes(const Plane& plane, int64_t first, int64_t count) {
  std::vector<uint8_t> bytes;
  bytes.reserve(static_cast<size_t>(plane.height * plane.width * count));
  for (int64_t i = 0; i < plane.height * plane.width; ++i) {
    for (int64_t c = first; c < first + count; ++c) {
      const auto value =
          static_cast<double>(plane.values[static_cast<size_t>(i * plane.channels + c)]);
      bytes.push_back(static_cast<uint8_t>(std::lround(255.0 * value)));
    }
  }
  return bytes;
}

void FromBytes(const std::vector<uint8_t>& bytes, int64_t first, int64_t count, Plane* plane) {
  for (int64_t i = 0; i < plane->height * plane->width; ++i) {
    for (int64_t c = 0; c < count; ++c) {
      plane->values[static_cast<size_t>(i * plane->channels + first + c)] = static_cast<float>(
          static_cast<double>(bytes[static_cast<size_t>(i * count + c)]) / 255.0);
    }
  }
}

void Recompress(const CorruptionInput& input, int64_t first, int64_t count, Plane* plane) {
  const int quality = Choose(input.severity, 60, 10);
  std::vector<uint8_t> bytes = ToBytes(*plane, first, count);
  const JpegPicture picture{
      .pixels = bytes.data(), .height = plane->height, .width = plane->width, .channels = count};
  const auto decoded = DecodeJpeg(input.name, EncodeJpeg(input.name, picture, quality));
  decoded->Read(0, static_cast<int64_t>(bytes.size()), bytes.data());
  FromBytes(bytes, first, count, plane);
}

// Three channels are red, green and blue; of any other number each is compressed by itself.
void CompressAsJpeg(const CorruptionInput& input, Plane* plane) {
  const int64_t together = plane->channels == 3 ? 3 : 1;
  for (int64_t c = 0; c < plane->channels; c += together) Recompress(input, c, together, plane);
}

}  // namespace

extern constinit const CorruptionInfo kJpegCompression{
    .name = "jpeg",
    .summary = "Compressed as JPEG and decoded again.",
    .mild = "quality 60",
    .strong = "quality 10",
    .apply = &CompressAsJpeg};

}  // namespace segcal
