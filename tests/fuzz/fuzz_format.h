// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/array.h"

namespace segcal {

// Opens the bytes as a file of this format and reads all of it. An Error is what a bad file should
// give; anything else that leaves the reader is a finding.
void FuzzFormat(const FormatInfo& format, const uint8_t* data, size_t size);

}  // namespace segcal
