// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "formats/array.h"
#include "formats/bytes.h"

namespace segcal {

// A picture of 8 bits to be compressed: gray (H, W) or RGB (H, W, 3).
struct JpegPicture {
  const uint8_t* pixels = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;  // 1 or 3
};

// The bytes of a baseline JPEG file at a quality of 1 to 100, with libjpeg's defaults: its own
// quantisation tables, chroma at half the resolution, the accurate integer transform. `name` starts
// messages.
Bytes EncodeJpeg(const std::string& name, const JpegPicture& picture, int quality);

// A JPEG file in memory as an array.
std::unique_ptr<Array> DecodeJpeg(const std::string& name, Bytes file);

}  // namespace segcal
