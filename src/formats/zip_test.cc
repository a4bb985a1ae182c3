// SPDX-License-Identifier: Apache-2.0
#include "formats/zip.h"

#include "formats/files_for_test.h"

namespace segcal {
namespace {

// A member that is not compressed.
ZipMember Stored(const std::string& name, int64_t bytes, uint32_t crc) {
  ZipMember member;
  member.name = name;
  member.crc = crc;
  member.stored_bytes = bytes;
  member.bytes = bytes;
  return member;
}

std::string Archive(const std::string& name, const std::string& data, uint32_t crc) {
  const ZipMember member = Stored(name, static_cast<int64_t>(data.size()), crc);
  return ToString(EncodeZipLocalHeader(member)) + data + ToString(EncodeZipEnd(member));
}

TEST(ZipDirectory, FindsTheMemberThatWasWritten) {
  const TempFolder folder;
  Put(folder.File("a.zip"), Archive("x.npy", "hello", 77));
  const InputFile file(folder.File("a.zip"));
  const std::vector<ZipMember> members = ReadZipDirectory(file);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].name, "x.npy");
  EXPECT_EQ(members[0].bytes, 5);
  EXPECT_EQ(members[0].stored_bytes, 5);
  EXPECT_EQ(members[0].crc, 77u);
  EXPECT_EQ(members[0].method, kZipStored);
  // 30 bytes of header, 5 of name, 20 of 64-bit sizes.
  EXPECT_EQ(ZipDataOffset(file, members[0]), 55);
}

// A sparse file stands for the 6 GB of data.
TEST(ZipDirectory, ReadsSizesAbove32Bits) {
  const TempFolder folder;
  const int64_t bytes = int64_t{6} << 30;
  {
    OutputFile file(folder.File("a.zip"));
    const ZipMember member = Stored("x.npy", bytes, 1);
    const Bytes head = EncodeZipLocalHeader(member);
    file.WriteAt(0, head);
    file.WriteAt(static_cast<int64_t>(head.size()) + bytes, EncodeZipEnd(member));
    file.Commit();
  }
  const InputFile file(folder.File("a.zip"));
  const std::vector<ZipMember> members = ReadZipDirectory(file);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].bytes, bytes);
  EXPECT_EQ(members[0].stored_bytes, bytes);
  EXPECT_EQ(ZipDataOffset(file, members[0]), 55);
}

TEST(ZipDirectory, ToleratesACommentButNothingElseAtTheEnd) {
  const TempFolder folder;
  std::string archive = Archive("x.npy", "hello", 77);
  Put(folder.File("junk.zip"), archive + "junk");
  EXPECT_THROW(ReadZipDirectory(InputFile(folder.File("junk.zip"))), Error);
  archive[archive.size() - 2] = 4;
  Put(folder.File("comment.zip"), archive + "junk");
  EXPECT_EQ(ReadZipDirectory(InputFile(folder.File("comment.zip"))).size(), 1u);
}

TEST(ZipDirectory, RefusesRecordsOutsideTheFile) {
  const TempFolder folder;
  const std::string archive = Archive("x.npy", "hello", 77);
  const size_t end = archive.size() - 22;
  for (const size_t field : {end + 12, end + 16}) {  // size and offset of the directory
    std::string changed = archive;
    changed[field + 2] = 0x7f;
    Put(folder.File("a.zip"), changed);
    EXPECT_THROW(ReadZipDirectory(InputFile(folder.File("a.zip"))), Error);
  }
  std::string count = archive;
  count[end + 10] = 2;
  Put(folder.File("a.zip"), count);
  EXPECT_THROW(ReadZipDirectory(InputFile(folder.File("a.zip"))), Error);
}

}  // namespace
}  // namespace segcal
