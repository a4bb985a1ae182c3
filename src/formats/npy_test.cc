// SPDX-License-Identifier: Apache-2.0
#include "formats/npy.h"

#include "formats/files_for_test.h"

namespace segcal {
namespace {

std::string Npy(int version, const std::string& dictionary, const std::string& data) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const size_t length = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += static_cast<char>(length >> (8 * i) & 0xff);
  return out + dictionary + data;
}

std::string Dictionary(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

std::string SmallFile() {
  return Npy(1, Dictionary("<f4", false, "(2, 3)"), RawBytes(Counting<float>(6)));
}

TEST(Npy, ReadsEveryVersion) {
  const TempFolder folder;
  for (const int version : {1, 2, 3}) {
    Put(folder.File("a.npy"),
        Npy(version, Dictionary("<f4", false, "(2, 3)"), RawBytes(Counting<float>(6))));
    const auto array = OpenArray(folder.File("a.npy"));
    EXPECT_EQ(array->info().shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(ReadAll<float>(*array), Counting<float>(6));
  }
  EXPECT_HAS(ErrorOf(folder.File("a.npy"), Npy(4, Dictionary("<f4", false, "(2, 3)"), "")),
             "version 4.0");
}

TEST(Npy, ReadsBothByteOrders) {
  const TempFolder folder;
  Put(folder.File("a.npy"),
      Npy(1, Dictionary(">i2", false, "(2,)"), std::string("\1\2\xff\xfe", 4)));
  EXPECT_EQ(ReadAll<int16_t>(*OpenArray(folder.File("a.npy"))), (std::vector<int16_t>{258, -2}));
  Put(folder.File("a.npy"),
      Npy(1, Dictionary("<i2", false, "(2,)"), std::string("\1\2\xff\xfe", 4)));
  EXPECT_EQ(ReadAll<int16_t>(*OpenArray(folder.File("a.npy"))), (std::vector<int16_t>{513, -257}));
}

TEST(Npy, BringsFortranOrderIntoCOrder) {
  const TempFolder folder;
  Put(folder.File("a.npy"),
      Npy(1, Dictionary("|u1", true, "(2, 3)"), std::string("\0\1\2\3\4\5", 6)));
  for (const int64_t limit : {0, 100}) {
    const auto array =
        OpenArray(folder.File("a.npy"), {.key = "", .memory_limit = limit, .cache_dir = ""});
    EXPECT_EQ(array->info().shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(ReadAll<uint8_t>(*array), (std::vector<uint8_t>{0, 2, 4, 1, 3, 5}));
  }
}

TEST(Npy, ReadsEmptyArraysAndUnitAxesInBothOrders) {
  const TempFolder folder;
  for (const bool fortran : {false, true}) {
    Put(folder.File("a.npy"), Npy(1, Dictionary("<f4", fortran, "(3, 0, 2)"), ""));
    EXPECT_EQ(OpenArray(folder.File("a.npy"))->info().NumElements(), 0);
    Put(folder.File("a.npy"), Npy(1, Dictionary("|u1", fortran, "(1, 3, 1)"), "abc"));
    EXPECT_EQ(ReadAll<char>(*OpenArray(folder.File("a.npy"))), (std::vector<char>{'a', 'b', 'c'}));
  }
}

TEST(Npy, NamesTruncationAndTrailingData) {
  const TempFolder folder;
  const std::string header = Dictionary("<f4", false, "(2, 3)");
  EXPECT_HAS(ErrorOf(folder.File("a.npy"), Npy(1, header, std::string(23, 'x'))),
             "truncated: 23 bytes of elements found, shape (2, 3) of float32 requires 24");
  EXPECT_HAS(ErrorOf(folder.File("a.npy"), Npy(1, header, std::string(25, 'x'))),
             "after the last element");
  ExpectEveryPrefixIsRefused(folder.File("a.npy"), SmallFile());
}

TEST(Npy, RefusesSizesThatAreNotThere) {
  const TempFolder folder;
  EXPECT_HAS(
      ErrorOf(folder.File("a.npy"), Npy(1, Dictionary("<f4", false, "(1000000, 1000000)"), "abcd")),
      "truncated");
  EXPECT_HAS(
      ErrorOf(folder.File("a.npy"), Npy(1, Dictionary("<f4", true, "(1000000, 1000000)"), "abcd")),
      "truncated");
  EXPECT_HAS(ErrorOf(folder.File("a.npy"), std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)),
             "header of");
}

TEST(Npy, SurvivesAnyChangedByte) {
  const TempFolder folder;
  ExpectEveryByteMayChange(folder.File("a.npy"), SmallFile());
}

TEST(Npy, WritesEveryTypeBitForBit) {
  const TempFolder folder;
  for (const DType dtype : {DType::kF16,
                            DType::kF32,
                            DType::kF64,
                            DType::kU8,
                            DType::kI8,
                            DType::kU16,
                            DType::kI16,
                            DType::kU32,
                            DType::kI32,
                            DType::kU64,
                            DType::kI64,
                            DType::kBool}) {
    const ArrayInfo info{.dtype = dtype, .shape = {3, 1, 2}, .spacing = {}};
    const std::vector<uint8_t> bytes = Counting<uint8_t>(6 * ElementSize(dtype));
    SaveArray(folder.File("a.npy"), info, bytes.data());
    const auto array = OpenArray(folder.File("a.npy"));
    EXPECT_EQ(array->info().dtype, dtype);
    EXPECT_EQ(array->info().shape, info.shape);
    std::vector<uint8_t> read(bytes.size());
    array->Read(0, 6, read.data());
    EXPECT_EQ(read, bytes) << Name(dtype);
  }
}

}  // namespace
}  // namespace segcal
