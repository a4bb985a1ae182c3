// SPDX-License-Identifier: Apache-2.0
#include "formats/array.h"

namespace segcal {

extern const FormatInfo kJpeg, kNifti, kNpy, kNpz, kPng;

const std::vector<const FormatInfo*>& Formats() {
  static const std::vector<const FormatInfo*> formats = {&kNpy, &kNpz, &kNifti, &kPng, &kJpeg};
  return formats;
}

}  // namespace segcal
