// SPDX-License-Identifier: Apache-2.0
#include "data/index_files.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using Names = std::vector<std::string>;
using Sources = std::vector<ArraySource>;

// Patterns inside the folder.
Dataset Index(const TempFolder& folder,
              const Names& members,
              const std::string& labels = "",
              bool allow_missing = false) {
  Dataset dataset;
  dataset.folder = folder.path();
  IndexPatterns patterns;
  for (const std::string& pattern : members) patterns.members.push_back(folder.File(pattern));
  if (!labels.empty()) patterns.labels = folder.File(labels);
  IndexFiles(patterns, {.allow_missing = allow_missing}, &dataset);
  return dataset;
}

void PutAll(const TempFolder& folder, const Names& names) {
  for (const std::string& name : names) folder.Put(name, "");
}

TEST(IndexFiles, ListsCasesAndMembersInNaturalOrder) {
  const TempFolder folder;
  for (const char* member : {"m0", "m2", "m10"}) {
    for (const char* id : {"case1", "case2", "case10"})
      folder.Put(std::string("p/") + member + "/" + id + ".npy", "");
  }
  const Dataset dataset = Index(folder, {"p/{member}/{case}.npy"});
  ASSERT_EQ(dataset.cases.size(), 3u);
  EXPECT_EQ(dataset.cases[0].id, "case1");
  EXPECT_EQ(dataset.cases[1].id, "case2");
  EXPECT_EQ(dataset.cases[2].id, "case10");
  EXPECT_EQ(dataset.cases[1].members,
            (Sources{"p/m0/case2.npy", "p/m2/case2.npy", "p/m10/case2.npy"}));
  EXPECT_EQ(dataset.cases[1].labels, "");
}

TEST(IndexFiles, TakesOnePatternPerMemberInTheGivenOrder) {
  const TempFolder folder;
  PutAll(folder, {"b/1.npy", "a/1.npy"});
  const Dataset dataset = Index(folder, {"b/{case}.npy", "a/{case}.npy"});
  EXPECT_EQ(dataset.cases.at(0).members, (Sources{"b/1.npy", "a/1.npy"}));
}

TEST(IndexFiles, MatchesLabelsImagesMasksAndGroups) {
  const TempFolder folder;
  PutAll(folder, {"p/pat7/s1.npy", "gt/s1.png", "im/s1.jpg", "mask/s1.png"});
  IndexPatterns patterns;
  patterns.members = {folder.File("p/{group}/{case}.npy")};
  patterns.labels = folder.File("gt/{case}.png");
  patterns.images = folder.File("im/{case}.jpg");
  patterns.masks = folder.File("mask/{case}.png");
  Dataset dataset;
  dataset.folder = folder.path();
  IndexFiles(patterns, {}, &dataset);
  const Case& entry = dataset.cases.at(0);
  EXPECT_EQ(entry.group, "pat7");
  EXPECT_EQ(entry.labels, "gt/s1.png");
  EXPECT_EQ(entry.image, "im/s1.jpg");
  EXPECT_EQ(entry.mask, "mask/s1.png");
}

TEST(IndexFiles, WritesPathsRelativeToTheDataSetsFolder) {
  const TempFolder folder;
  PutAll(folder, {"elsewhere/1.npy", "sets/x"});
  Dataset dataset;
  dataset.folder = folder.File("sets");
  IndexPatterns patterns;
  patterns.members = {folder.File("elsewhere/{case}.npy")};
  IndexFiles(patterns, {}, &dataset);
  EXPECT_EQ(dataset.cases.at(0).members[0], "../elsewhere/1.npy");
}

TEST(IndexFiles, NamesTheMemberACaseLacks) {
  const TempFolder folder;
  PutAll(folder, {"m0/1.npy", "m0/2.npy", "m1/1.npy"});
  ExpectError(
      ErrorCode::kIo, {"case \"2\"", "member m1"}, [&] { Index(folder, {"{member}/{case}.npy"}); });
  PutAll(folder, {"m1/2.npy", "m1/3.npy"});
  ExpectError(
      ErrorCode::kIo, {"case \"3\"", "member m0"}, [&] { Index(folder, {"{member}/{case}.npy"}); });
}

TEST(IndexFiles, NamesTheCaseWithoutLabelsUnlessAllowed) {
  const TempFolder folder;
  PutAll(folder, {"p/1.npy", "p/2.npy", "gt/1.png"});
  const Names members = {"p/{case}.npy"};
  ExpectError(ErrorCode::kIo, {"gt/{case}.png", "case \"2\"", "option allow_missing"}, [&] {
    Index(folder, members, "gt/{case}.png");
  });
  const Dataset dataset = Index(folder, members, "gt/{case}.png", /*allow_missing=*/true);
  EXPECT_EQ(dataset.cases.at(0).labels, "gt/1.png");
  EXPECT_EQ(dataset.cases.at(1).labels, "");
}

TEST(IndexFiles, RefusesPatternsThatNameNothingOrTooMuch) {
  const TempFolder folder;
  PutAll(folder, {"a/1.npy", "b/1.npy", "gt/1.png", "gt/1.jpg"});
  ExpectError(
      ErrorCode::kIo, {"x/{case}.npy", "no file"}, [&] { Index(folder, {"x/{case}.npy"}); });
  ExpectError(ErrorCode::kInvalidArgument, {"must contain {case}"}, [&] {
    Index(folder, {"{member}/1.npy"});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"two files", "case \"1\""}, [&] {
    Index(folder, {"*/{case}.npy"});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"two files", "case \"1\""}, [&] {
    Index(folder, {"a/{case}.npy"}, "gt/{case}.*g");
  });
}

TEST(IndexFiles, StacksFilesOfClassesInNaturalOrder) {
  const TempFolder folder;
  PutAll(folder, {"a/p_0.nii", "a/p_2.nii", "a/p_10.nii"});
  const Dataset dataset = Index(folder, {"{case}/p_{class}.nii"});
  ASSERT_EQ(dataset.cases.size(), 1u);
  EXPECT_EQ(dataset.cases[0].members,
            (Sources{ArraySource::PerClass({"a/p_0.nii", "a/p_2.nii", "a/p_10.nii"})}));
  EXPECT_TRUE(dataset.classes.empty());  // numbers are no names
}

TEST(IndexFiles, TakesClassesByTheirNames) {
  const TempFolder folder;
  PutAll(folder, {"a_sky.npy", "a_car.npy", "b_sky.npy", "b_car.npy"});
  EXPECT_EQ(Index(folder, {"{case}_{class}.npy"}).classes, (Names{"car", "sky"}));
  Dataset dataset;
  dataset.folder = folder.path();
  dataset.classes = {"sky", "car"};
  IndexPatterns patterns;
  patterns.members = {folder.File("{case}_{class}.npy")};
  IndexFiles(patterns, {}, &dataset);
  EXPECT_EQ(dataset.cases.at(1).members,
            (Sources{ArraySource::PerClass({"b_sky.npy", "b_car.npy"})}));
  dataset.classes = {"sky", "car", "road"};
  ExpectError(ErrorCode::kBadData, {"2 classes (car, sky)", "has 3"}, [&] {
    IndexFiles(patterns, {}, &dataset);
  });
}

TEST(IndexFiles, RefusesCasesThatLackTheFileOfAClass) {
  const TempFolder folder;
  PutAll(folder, {"a_0.npy", "a_1.npy", "b_0.npy"});
  ExpectError(
      ErrorCode::kIo, {"case \"b\"", "class 1"}, [&] { Index(folder, {"{case}_{class}.npy"}); });
  PutAll(folder, {"b_1.npy", "b_2.npy"});
  ExpectError(ErrorCode::kBadData, {"case \"b\"", "3 classes"}, [&] {
    Index(folder, {"{case}_{class}.npy"});
  });
}

}  // namespace
}  // namespace segcal
