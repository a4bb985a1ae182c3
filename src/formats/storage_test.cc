// SPDX-License-Identifier: Apache-2.0
#include "formats/storage.h"

#include <limits>

#include "formats/files_for_test.h"

namespace segcal {
namespace {

Bytes SomeBytes(size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

TEST(CheckedNumBytes, RefusesProductsThatDoNotFit) {
  const int64_t big = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(CheckedNumBytes("a", {.dtype = DType::kF64, .shape = {3, 0, 5}, .spacing = {}}), 0);
  EXPECT_EQ(CheckedNumBytes("a", {.dtype = DType::kU8, .shape = {big}, .spacing = {}}), big);
  EXPECT_THROW(CheckedNumBytes("a", {.dtype = DType::kU16, .shape = {big}, .spacing = {}}), Error);
  EXPECT_THROW(
      CheckedNumBytes("a", {.dtype = DType::kU8, .shape = {1 << 30, 1 << 30, 16}, .spacing = {}}),
      Error);
  EXPECT_THROW(CheckedNumBytes("a", {.dtype = DType::kU8, .shape = {-1, -1}, .spacing = {}}),
               Error);
  EXPECT_THROW(CheckedNumBytes("a", {.dtype = DType::kU8, .shape = {}, .spacing = {}}), Error);
}

TEST(Spool, GivesBackWhatWasAppendedAcrossItsLimit) {
  const Bytes bytes = SomeBytes(1000);
  for (const int64_t limit : {0, 1, 499, 500, 999, 1000, 5000}) {
    Spool spool("a", limit, "");
    for (size_t at = 0; at < bytes.size(); at += 100)
      spool.Append(std::span(bytes).subspan(at, 100));
    EXPECT_EQ(spool.size(), 1000);
    const auto array =
        spool.TakeArray({.dtype = DType::kU8, .shape = {1000}, .spacing = {}}, false);
    EXPECT_EQ(ReadAll<std::byte>(*array), bytes) << limit;
    EXPECT_EQ(array->Direct(0) != nullptr, limit >= 1000) << limit;
  }
}

TEST(Spool, SwapsBytesInMemoryAndInItsFile) {
  const Bytes bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  for (const int64_t limit : {0, 100}) {
    Spool spool("a", limit, "");
    spool.Append(bytes);
    const auto array = spool.TakeArray({.dtype = DType::kU16, .shape = {2}, .spacing = {}}, true);
    const uint16_t swapped = Load<uint16_t>(bytes.data(), true);
    EXPECT_EQ(ReadAll<uint16_t>(*array)[0], swapped);
  }
}

TEST(Spool, UsesTheCacheFolderAndNamesOneThatIsMissing) {
  const TempFolder folder;
  Spool spool("a", 10, folder.path());
  spool.Append(SomeBytes(100));
  EXPECT_EQ(folder.NumFiles(), 0u);  // unlinked
  Spool bad("a", 10, folder.File("missing"));
  EXPECT_THROW(bad.Append(SomeBytes(100)), Error);
}

TEST(Spool, WritesInsideAfterResizeWithZerosElsewhere) {
  for (const int64_t limit : {0, 100}) {
    Spool spool("a", limit, "");
    spool.Resize(8);
    spool.WriteAt(3, SomeBytes(2));
    Bytes out(8);
    spool.ReadAt(0, out);
    Bytes expected(8);
    expected[3] = std::byte{3};
    expected[4] = std::byte{10};
    EXPECT_EQ(out, expected);
  }
}

TEST(FileArray, ThatShrankSinceItWasOpenedGivesAnError) {
  const TempFolder folder;
  const std::vector<float> values = Counting<float>(6);
  SaveArray(
      folder.File("a.npy"), {.dtype = DType::kF32, .shape = {6}, .spacing = {}}, values.data());
  const auto array = OpenArray(folder.File("a.npy"));
  std::filesystem::resize_file(folder.File("a.npy"), 130);
  EXPECT_THROW(ReadAll<float>(*array), Error);
}

}  // namespace
}  // namespace segcal
