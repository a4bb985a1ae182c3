// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "core/parallel.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string ReadAt(const InputFile& file, int64_t offset, size_t count) {
  std::string text(count, '\0');
  file.ReadAt(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

class EveryOutputFile : public ::testing::TestWithParam<OutputFile::Until> {};

TEST_P(EveryOutputFile, AppearsUnderItsNameOnlyAtCommit) {
  const TempFolder folder;
  const std::string path = folder.Put("out", "old");
  {
    OutputFile file(path, GetParam());
    file.Append(BytesOf("new "));
    file.Append(BytesOf("text"));
    EXPECT_EQ(folder.Get("out"), "old");
    file.Commit();
    EXPECT_EQ(folder.Get("out"), "new text");
  }
  EXPECT_EQ(folder.NumFiles(), 1u);
}

TEST_P(EveryOutputFile, LeavesNothingBehindWithoutCommit) {
  const TempFolder folder;
  {
    OutputFile file(folder.File("out"), GetParam());
    file.Append(BytesOf("half"));
  }
  EXPECT_EQ(folder.NumFiles(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Until,
                         EveryOutputFile,
                         ::testing::Values(OutputFile::Until::kUnnamed, OutputFile::Until::kNamed));

TEST(OutputFile, LeavesNothingBehindWhenTheNameIsTaken) {
  const TempFolder folder;
  folder.Put("out/inside", "x");
  ExpectError(ErrorCode::kIo, {folder.File("out")}, [&] { WriteText(folder.File("out"), "text"); });
  EXPECT_EQ(folder.NumFiles(), 1u);
}

TEST(CreateFolder, MakesThoseAboveAndNamesWhatIsInTheWay) {
  const TempFolder folder;
  CreateFolder(folder.File("a/b"));
  CreateFolder(folder.File("a/b"));
  WriteText(folder.File("a/b/c"), "text");
  ExpectError(
      ErrorCode::kIo, {folder.File("a/b/c")}, [&] { CreateFolder(folder.File("a/b/c/d")); });
}

TEST(CreateFolder, MakesTheFolderOfAFile) {
  const TempFolder folder;
  CreateParentFolder(folder.File("a/b/file"));
  WriteText(folder.File("a/b/file"), "text");
  EXPECT_EQ(folder.Get("a/b/file"), "text");
  CreateParentFolder("file");  // of the folder we are in, which is there
}

TEST(OutputFile, NamesAFileInAFolderThatDoesNotExist) {
  const TempFolder folder;
  const std::string path = folder.File("no/such/out");
  ExpectError(ErrorCode::kIo, {path, "cannot create"}, [&] { OutputFile file(path); });
}

TEST(OutputFile, TwoWritersOfOneNameDoNotMix) {
  const TempFolder folder;
  OutputFile first(folder.File("out"));
  OutputFile second(folder.File("out"));
  first.Append(BytesOf("first"));
  second.Append(BytesOf("2nd"));
  second.Commit();
  EXPECT_EQ(folder.Get("out"), "2nd");
  first.Commit();
  EXPECT_EQ(folder.Get("out"), "first");
}

TEST(OutputFile, TakesBlocksFromSeveralThreads) {
  const TempFolder folder;
  constexpr int64_t kBlocks = 64;
  OutputFile file(folder.File("out"));
  ParallelFor(kBlocks, 3, [&](int64_t i, int) {
    const std::string block(100, static_cast<char>('0' + i));
    file.WriteAt((kBlocks - 1 - i) * 100, BytesOf(block));
  });
  file.Commit();
  const std::string text = folder.Get("out");
  ASSERT_EQ(text.size(), 6400u);
  for (size_t at = 0; at < text.size(); ++at) {
    ASSERT_EQ(text[at], static_cast<char>('0' + 63 - at / 100)) << at;
  }
}

TEST(InputFile, ReadsAnywhereInAnyOrder) {
  const TempFolder folder;
  const InputFile file(folder.Put("in", "0123456789"));
  EXPECT_EQ(file.size(), 10);
  EXPECT_EQ(ReadAt(file, 7, 3), "789");
  EXPECT_EQ(ReadAt(file, 0, 4), "0123");
  EXPECT_EQ(ReadAt(file, 10, 0), "");
}

TEST(InputFile, NamesAFileThatIsTooShort) {
  const TempFolder folder;
  const std::string path = folder.Put("in", "0123456789");
  const InputFile file(path);
  ExpectError(ErrorCode::kBadData, {path, "truncated", "byte 10", "2 more bytes"}, [&] {
    ReadAt(file, 8, 4);
  });
  std::filesystem::resize_file(path, 3);
  ExpectError(ErrorCode::kBadData, {path, "truncated"}, [&] { ReadAt(file, 0, 10); });
}

TEST(InputFile, RefusesWhatIsNotARegularFile) {
  const TempFolder folder;
  ExpectError(ErrorCode::kIo, {folder.path()}, [&] { InputFile file(folder.path()); });
  ExpectError(
      ErrorCode::kIo, {"/dev/null", "not a regular file"}, [] { InputFile file("/dev/null"); });
  ExpectError(ErrorCode::kIo, {folder.File("no")}, [&] { InputFile file(folder.File("no")); });
}

TEST(InputFile, StaysOpenWhenMoved) {
  const TempFolder folder;
  InputFile first(folder.Put("in", "content"));
  const InputFile second(std::move(first));
  EXPECT_EQ(ReadAt(second, 0, 7), "content");
}

TEST(ReadText, RefusesALongerFileThanAllowed) {
  const TempFolder folder;
  const std::string path = folder.Put("in", "0123456789");
  EXPECT_EQ(ReadText(path, 10), "0123456789");
  ExpectError(ErrorCode::kBadData, {path, "10 bytes", "at most 9"}, [&] { ReadText(path, 9); });
}

TEST(OpenTemporary, HasNoName) {
  const TempFolder folder;
  const int fd = OpenTemporary(folder.path());
  WriteFully(fd, "temporary", 5, BytesOf("abc"));
  EXPECT_EQ(folder.NumFiles(), 0u);
  const InputFile file("temporary", fd);
  EXPECT_EQ(file.size(), 8);
  EXPECT_EQ(ReadAt(file, 5, 3), "abc");
}

TEST(OpenTemporary, NamesAFolderThatCannotBeUsed) {
  const TempFolder folder;
  ExpectError(
      ErrorCode::kIo, {folder.File("absent")}, [&] { OpenTemporary(folder.File("absent")); });
}

// The system's temporary folder is the user's TMPDIR, which may be wrong.
TEST(OpenTemporary, SaysSoWhereTheSystemHasNoTemporaryFolder) {
  const TempFolder folder;
  const char* before = ::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder.File("absent").c_str(), 1);
  ExpectError(ErrorCode::kIo, {"temporary"}, [] { OpenTemporary(""); });
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

TEST(CopyFile, CopiesEveryByteOrNothing) {
  const TempFolder folder;
  const std::string content = std::string(300000, 'x') + std::string("\0y", 2);
  folder.Put("a", content);
  CopyFile(folder.File("a"), folder.File("b"));
  EXPECT_EQ(folder.Get("b"), content);
  EXPECT_THROW(CopyFile(folder.File("none"), folder.File("c")), Error);
  EXPECT_EQ(folder.NumFiles(), 2u);
}

TEST(Paths, AreLookedAtWithoutThrowing) {
  const TempFolder folder;
  folder.Put("sub/a", "");
  std::filesystem::create_symlink("loop", folder.File("loop"));
  std::filesystem::create_symlink(folder.File("sub"), folder.File("link"));
  EXPECT_TRUE(IsFile(folder.File("sub/a")));
  EXPECT_TRUE(IsFolder(folder.File("link")));
  for (const std::string& name : {folder.File("loop"), std::string(5000, 'a'), std::string()}) {
    EXPECT_FALSE(IsFile(name));
    EXPECT_FALSE(IsFolder(name));
    EXPECT_NO_THROW(ResolvedPath(name));
  }
  EXPECT_EQ(ResolvedPath(folder.File("link/../sub/./a")), ResolvedPath(folder.File("link/a")));
}

}  // namespace
}  // namespace segcal
