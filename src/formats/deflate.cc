// SPDX-License-Identifier: Apache-2.0
#include "formats/deflate.h"

#include <zlib.h>

#include <limits>

#include "core/throw.h"

namespace segcal {

std::string DeflateRaw(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    Throw(ErrorCode::kUnsupported,
          "{} bytes cannot be compressed at once, at most {} can",
          bytes.size(),
          std::numeric_limits<uInt>::max());
  }
  z_stream zlib{};
  if (deflateInit2(&zlib, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    Throw(ErrorCode::kIo, "cannot start compression: not enough memory");
  std::string out(deflateBound(&zlib, static_cast<uLong>(bytes.size())), '\0');
  // zlib reads only, but its field is not const.
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&zlib, Z_FINISH);
  const size_t written = out.size() - zlib.avail_out;
  deflateEnd(&zlib);
  if (status != Z_STREAM_END)
    Throw(ErrorCode::kIo, "compression ended early, zlib says {}", status);
  out.resize(written);
  return out;
}

}  // namespace segcal
