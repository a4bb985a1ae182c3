// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_format.h"

namespace segcal {
extern const FormatInfo kJpeg;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  segcal::FuzzFormat(segcal::kJpeg, data, size);
  return 0;
}
