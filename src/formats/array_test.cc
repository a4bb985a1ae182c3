// SPDX-License-Identifier: Apache-2.0
#include "formats/array.h"

#include <set>

#include "formats/files_for_test.h"

namespace segcal {
namespace {

TEST(Formats, HaveDistinctNamesAndExtensionsWithADot) {
  std::set<std::string> names;
  for (const FormatInfo* format : Formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_EQ(format->extensions[0], '.') << format->name;
    EXPECT_NE(format->open, nullptr) << format->name;
  }
  EXPECT_EQ(names.size(), 5u);
}

TEST(OpenArray, GoesByContentNotByName) {
  const TempFolder folder;
  const std::vector<float> values = Counting<float>(6);
  SaveArray(
      folder.File("a.npy"), {.dtype = DType::kF32, .shape = {2, 3}, .spacing = {}}, values.data());
  std::filesystem::rename(folder.File("a.npy"), folder.File("a.png"));
  EXPECT_EQ(ReadAll<float>(*OpenArray(folder.File("a.png"))), values);
}

TEST(OpenArray, RefusesWhatItDoesNotKnow) {
  const TempFolder folder;
  EXPECT_HAS(ErrorOf(folder.File("a.txt"), "hello"),
             "known format (.npy, .npz, .nii.gz, .nii, .png");
  EXPECT_HAS(ErrorOf(folder.File("a.npy"), "hello"), "not that of a npy file");
  EXPECT_HAS(ErrorOf(folder.File("b.npy"), ""), "empty");
  EXPECT_HAS(OpenError(folder.File("absent.npy")), "cannot open");
  EXPECT_HAS(OpenError(folder.path()), "not a regular file");
}

TEST(CreateArray, RefusesNamesItCannotWrite) {
  const TempFolder folder;
  const ArrayInfo info{.dtype = DType::kU8, .shape = {2, 2}, .spacing = {}};
  for (const char* name : {"a.jpg", "a.txt", "npy", ".npy"}) {
    EXPECT_THROW(CreateArray(name, info), Error) << name;
  }
  EXPECT_EQ(folder.NumFiles(), 0u);
}

TEST(CreateArray, TakesTheExtensionInCapitals) {
  const TempFolder folder;
  const std::vector<uint8_t> values = Counting<uint8_t>(4);
  for (const char* name : {"A.NPY", "A.NII.GZ", "A.PNG"}) {
    SaveArray(
        folder.File(name), {.dtype = DType::kU8, .shape = {2, 2}, .spacing = {}}, values.data());
    EXPECT_EQ(ReadAll<uint8_t>(*OpenArray(folder.File(name))), values) << name;
  }
  EXPECT_EQ(ReadText(folder.File("A.NII.GZ"), 1 << 20).substr(0, 2), "\x1f\x8b");
}

TEST(CreateArray, LeavesNothingBehindWithoutCommit) {
  const TempFolder folder;
  for (const char* name : {"a.npy", "a.npz", "a.nii", "a.nii.gz", "a.png"}) {
    const std::vector<uint8_t> values = {1, 2, 3, 4};
    const auto writer =
        CreateArray(folder.File(name), {.dtype = DType::kU8, .shape = {2, 2}, .spacing = {}});
    writer->WriteAt(0, 4, values.data());
    EXPECT_FALSE(std::filesystem::exists(folder.File(name))) << name;
  }
  EXPECT_EQ(folder.NumFiles(), 0u);
}

TEST(CreateArray, TakesElementsInAnyOrderAndRefusesOthers) {
  const TempFolder folder;
  for (const char* name : {"a.npy", "a.npz", "a.nii", "a.nii.gz", "a.png"}) {
    const std::vector<uint8_t> values = Counting<uint8_t>(12);
    const auto writer =
        CreateArray(folder.File(name), {.dtype = DType::kU8, .shape = {3, 4}, .spacing = {}});
    writer->WriteAt(7, 5, values.data() + 7);
    writer->WriteAt(0, 7, values.data());
    EXPECT_THROW(writer->WriteAt(7, 6, values.data()), Error) << name;
    EXPECT_THROW(writer->WriteAt(-1, 1, values.data()), Error) << name;
    writer->Commit();
    EXPECT_EQ(ReadAll<uint8_t>(*OpenArray(folder.File(name))), values) << name;
  }
}

TEST(ArrayOverMemory, IsReadInPlace) {
  const std::vector<int16_t> values = Counting<int16_t>(6);
  const auto array =
      ArrayOverMemory("a", {.dtype = DType::kI16, .shape = {2, 3}, .spacing = {}}, values.data());
  EXPECT_EQ(array->Direct(2), values.data() + 2);
  EXPECT_EQ(ReadAll<int16_t>(*array), values);
}

}  // namespace
}  // namespace segcal
