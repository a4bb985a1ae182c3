// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_format.h"

namespace segcal {
extern const FormatInfo kNpz;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  segcal::FuzzFormat(segcal::kNpz, data, size);
  return 0;
}
