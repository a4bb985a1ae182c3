// SPDX-License-Identifier: Apache-2.0
#include "formats/deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace segcal {
namespace {

// zlib's own reader of raw streams.
std::string InflateRaw(std::string stream, size_t size) {
  std::string out(size + 1, '\0');  // one byte more, to see a stream that is too long
  z_stream zlib{};
  EXPECT_EQ(inflateInit2(&zlib, -MAX_WBITS), Z_OK);
  zlib.next_in = reinterpret_cast<Bytef*>(stream.data());
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&zlib, Z_FINISH), Z_STREAM_END);
  inflateEnd(&zlib);
  return out.substr(0, zlib.total_out);
}

TEST(DeflateRaw, ReadsBackToTheSameBytes) {
  std::string text;
  for (int64_t i = 0; i < 100000; ++i) text.push_back(static_cast<char>(i * i / 7 % 251));
  for (const std::string& bytes : {std::string(), std::string("a"), std::string(5000, '\0'), text})
    EXPECT_EQ(InflateRaw(DeflateRaw(bytes), bytes.size()), bytes);
}

TEST(DeflateRaw, MakesRepetitionSmall) {
  EXPECT_LT(DeflateRaw(std::string(100000, 'x')).size(), 200u);
}

}  // namespace
}  // namespace segcal
