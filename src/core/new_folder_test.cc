// SPDX-License-Identifier: Apache-2.0
#include "core/new_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

TEST(NewFolder, KeepsWhatIsComplete) {
  const TempFolder temp;
  {
    NewFolder folder(temp.File("a/b"));
    temp.Put("a/b/file", "x");
    folder.Keep();
  }
  EXPECT_EQ(temp.Get("a/b/file"), "x");
}

TEST(NewFolder, RemovesWhatIsNot) {
  const TempFolder temp;
  {
    const NewFolder folder(temp.File("a/b"));
    temp.Put("a/b/sub/file", "x");
  }
  EXPECT_FALSE(std::filesystem::exists(temp.File("a")));
}

TEST(NewFolder, EmptiesAFolderThatWasThere) {
  const TempFolder temp;
  std::filesystem::create_directory(temp.File("a"));
  {
    const NewFolder folder(temp.File("a"));
    temp.Put("a/sub/file", "x");
  }
  EXPECT_TRUE(std::filesystem::is_empty(temp.File("a")));
}

TEST(NewFolder, RefusesAFileAndAFolderWithSomethingInIt) {
  const TempFolder temp;
  temp.Put("a/file", "x");
  for (const char* name : {"a", "a/file"}) {
    ExpectError(ErrorCode::kIo, {temp.File(name), "not an empty folder"}, [&] {
      const NewFolder folder(temp.File(name));
    });
  }
  EXPECT_EQ(temp.Get("a/file"), "x");
}

}  // namespace
}  // namespace segcal
