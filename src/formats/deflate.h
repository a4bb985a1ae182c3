// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace segcal {

// Bytes as a raw deflate stream (RFC 1951), at the highest level: what a browser reads as
// "deflate-raw". The same bytes give the same stream.
std::string DeflateRaw(std::string_view bytes);

}  // namespace segcal
