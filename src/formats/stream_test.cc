// SPDX-License-Identifier: Apache-2.0
#include "formats/stream.h"

#include "formats/files_for_test.h"

namespace segcal {
namespace {

// Decodes `stored`, a gzip file, in pieces of `step` bytes.
std::string Gunzip(const std::string& stored, size_t step) {
  const TempFolder folder;
  Put(folder.File("a.gz"), stored);
  const InputFile file(folder.File("a.gz"));
  InflateStream stream(
      "a.gz", std::make_unique<FileStream>(file, 0, file.size()), Compression::kGzip);
  std::string text;
  std::string piece(step, '\0');
  size_t got = step;
  while (got == step) {
    got = stream.Read(std::as_writable_bytes(std::span(piece)));
    text += piece.substr(0, got);
  }
  return text;
}

TEST(InflateStream, DecodesWhateverThePieceSize) {
  const std::string text = LongText();
  for (const size_t step : {size_t{1}, size_t{7}, size_t{4096}, text.size(), text.size() + 1}) {
    EXPECT_EQ(Gunzip(Gzip(text), step), text) << step;
  }
}

TEST(InflateStream, JoinsMembersAndSkipsZeroPadding) {
  const std::string text = LongText();
  EXPECT_EQ(Gunzip(Gzip(text) + Gzip("") + Gzip("end"), 1000), text + "end");
  EXPECT_EQ(Gunzip(Gzip(text) + std::string(200000, '\0'), 1000), text);
}

TEST(InflateStream, RefusesJunkWrongChecksumsAndTruncation) {
  const std::string stored = Gzip("some text");
  EXPECT_THROW(Gunzip(stored + "junk", 100), Error);
  EXPECT_THROW(Gunzip(stored + std::string(100000, '\0') + "x", 100), Error);
  EXPECT_THROW(Gunzip(stored + "\x1f\x8b", 100), Error);
  std::string wrong = stored;
  wrong[wrong.size() - 6] ^= 1;  // in the checksum
  EXPECT_THROW(Gunzip(wrong, 100), Error);
  for (size_t size = 0; size < stored.size(); ++size) {
    EXPECT_THROW(Gunzip(stored.substr(0, size), 100), Error) << size;
  }
}

TEST(RequirePossibleSize, KnowsTheLimitOfDeflate) {
  EXPECT_NO_THROW(RequirePossibleSize("a", 1032 * 1000, 1000));
  EXPECT_THROW(RequirePossibleSize("a", 1032 * 1001 + 1, 1000), Error);
}

}  // namespace
}  // namespace segcal
