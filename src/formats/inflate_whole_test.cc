// SPDX-License-Identifier: Apache-2.0
#include "formats/inflate_whole.h"

#include "formats/files_for_test.h"

namespace segcal {
namespace {

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// What InflateWhole makes of `stored`; "no" where it refuses.
std::string Inflated(const std::string& stored, Compression compression, size_t size) {
  std::string out(size, '?');
  const auto room = std::as_writable_bytes(std::span(out));
  return InflateWhole(BytesOf(stored), compression, room) ? out : "no";
}

TEST(InflateWhole, DecodesARawStreamOfExactlyThatSize) {
  const std::string text = LongText();
  const std::string stored = RawDeflate(text);
  EXPECT_EQ(Inflated(stored, Compression::kDeflate, text.size()), text);
  EXPECT_EQ(Inflated(stored, Compression::kDeflate, text.size() - 1), "no");
  EXPECT_EQ(Inflated(stored, Compression::kDeflate, text.size() + 1), "no");
  EXPECT_EQ(Inflated(stored + "x", Compression::kDeflate, text.size()), "no");
  for (size_t size = 0; size < stored.size(); size += 997)
    EXPECT_EQ(Inflated(stored.substr(0, size), Compression::kDeflate, text.size()), "no");
}

TEST(InflateWhole, JoinsGzipMembersAndSkipsZeros) {
  const std::string text = LongText();
  const std::string stored = Gzip(text) + Gzip("") + Gzip("end");
  EXPECT_EQ(Inflated(stored, Compression::kGzip, text.size() + 3), text + "end");
  const std::string padded = stored + std::string(3000, '\0');
  EXPECT_EQ(Inflated(padded, Compression::kGzip, text.size() + 3), text + "end");
  EXPECT_EQ(Inflated(padded + "x", Compression::kGzip, text.size() + 3), "no");
  EXPECT_EQ(Inflated(stored + "\x1f\x8b", Compression::kGzip, text.size() + 3), "no");
  EXPECT_EQ(Inflated(stored, Compression::kGzip, text.size() + 2), "no");
  EXPECT_EQ(Inflated("", Compression::kGzip, 0), "no");
}

TEST(InflateWhole, RefusesAWrongChecksum) {
  std::string stored = Gzip("some text");
  stored[stored.size() - 6] ^= 1;
  EXPECT_EQ(Inflated(stored, Compression::kGzip, 9), "no");
}

TEST(Crc32, IsThatOfZlibInOnePieceAndInParts) {
  const std::string text = LongText();
  const auto expected =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  const auto bytes = BytesOf(text);
  EXPECT_EQ(Crc32(0, bytes), expected);
  EXPECT_EQ(Crc32(Crc32(0, bytes.first(777)), bytes.subspan(777)), expected);
  const uint32_t rest = Crc32(0, bytes.subspan(777));
  EXPECT_EQ(JoinCrc32(Crc32(0, bytes.first(777)), rest, std::ssize(bytes) - 777), expected);
  EXPECT_EQ(JoinCrc32(expected, 0, 0), expected);
}

TEST(FileCrc32, DoesNotDependOnThreads) {
  const TempFolder folder;
  std::string text;
  while (text.size() < (size_t{5} << 19)) text += LongText();
  Put(folder.File("a"), text);
  const InputFile file(folder.File("a"));
  const auto part = BytesOf(text).subspan(5, text.size() - 9);
  for (const int threads : {1, 3})
    EXPECT_EQ(FileCrc32(file, 5, std::ssize(part), threads), Crc32(0, part)) << threads;
  EXPECT_EQ(FileCrc32(file, 0, 0, 2), 0u);
}

}  // namespace
}  // namespace segcal
