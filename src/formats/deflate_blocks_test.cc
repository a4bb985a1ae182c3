// SPDX-License-Identifier: Apache-2.0
#include "formats/deflate_blocks.h"

#include "formats/files_for_test.h"
#include "formats/inflate_whole.h"

namespace segcal {
namespace {

// Text that shrinks, several blocks of it.
std::string TextOfSize(size_t size) {
  std::string text;
  for (int64_t i = 0; text.size() < size; ++i) text += std::to_string(i * 7919 % 100003);
  text.resize(size);
  return text;
}

Spool SpoolOf(const std::string& text, int64_t memory) {
  Spool spool("spool", memory, "");
  spool.Append(std::as_bytes(std::span(text)));
  return spool;
}

// The bytes that `write` has appended to a file.
template <class Write>
std::string Written(const Write& write) {
  const TempFolder folder;
  OutputFile file(folder.File("a"));
  write(&file);
  file.Commit();
  return ReadText(folder.File("a"), int64_t{1} << 30);
}

// Decoded by zlib, which did not write it in one go.
std::string Decoded(const std::string& stored, Compression compression, size_t size) {
  const TempFolder folder;
  Put(folder.File("a"), stored);
  const InputFile file(folder.File("a"));
  InflateStream stream("a", std::make_unique<FileStream>(file, 0, file.size()), compression);
  std::string text(size + 1, '?');
  text.resize(stream.Read(std::as_writable_bytes(std::span(text))));
  return text;
}

TEST(GzipInBlocks, HasTheSameBytesForAnyNumberOfThreads) {
  const std::string text = TextOfSize((size_t{5} << 20) + 12345);
  const std::string head = "header";
  const auto gzip = [&](int threads, int64_t memory) {
    const Spool spool = SpoolOf(text, memory);
    return Written([&](OutputFile* file) {
      GzipInBlocks(std::as_bytes(std::span(head)), spool, threads, file);
    });
  };
  const std::string stored = gzip(1, 1 << 30);
  EXPECT_EQ(Decoded(stored, Compression::kGzip, head.size() + text.size()), head + text);
  EXPECT_LT(stored.size(), text.size() / 2);
  EXPECT_EQ(gzip(2, 1 << 30), stored);
  EXPECT_EQ(gzip(3, 1000), stored);
}

// Nothing at all, less than a block, exactly one and two, one byte more; heads longer than a block.
TEST(DeflateInBlocks, CutsBlocksWhereverTheyFall) {
  constexpr size_t kBlock = size_t{1} << 19;
  for (const size_t head_size : {size_t{0}, size_t{3}, kBlock, kBlock + 1}) {
    for (const size_t size : {size_t{0}, size_t{5}, kBlock - 3, kBlock, 2 * kBlock, kBlock + 1}) {
      const std::string head = TextOfSize(head_size);
      const std::string text = TextOfSize(size);
      const Spool spool = SpoolOf(text, 1 << 30);
      Deflated deflated;
      const std::string stored = Written([&](OutputFile* file) {
        deflated = DeflateInBlocks(std::as_bytes(std::span(head)), spool, 2, file);
      });
      const std::string all = head + text;
      EXPECT_EQ(deflated.stored_bytes, std::ssize(stored));
      EXPECT_EQ(deflated.crc, Crc32(0, std::as_bytes(std::span(all))));
      EXPECT_EQ(Decoded(stored, Compression::kDeflate, all.size()), all)
          << head_size << " " << size;
    }
  }
}

}  // namespace
}  // namespace segcal
