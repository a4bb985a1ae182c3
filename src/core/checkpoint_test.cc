// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint.h"

#include <gtest/gtest.h>

#include <bit>

#include "core/file.h"
#include "core/json.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

TEST(Checkpoint, GivesBackTheBitsThatWereKept) {
  const TempFolder folder;
  const std::string path = folder.File("a.part");
  const std::vector<double> values = {0.1, 1.0 / 3.0, -4.9e-324, 1.7976931348623157e308, -0.0};
  {
    Checkpoint kept(path, 7, /*resume=*/false);
    kept.Save("first", {{"values", values}});
    kept.Save("second", 3);
  }
  const Checkpoint found(path, 7, /*resume=*/true);
  ASSERT_NE(found.Find("first"), nullptr);
  const auto read = found.Find("first")->at("values").get<std::vector<double>>();
  ASSERT_EQ(read.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint64_t>(read[i]), std::bit_cast<uint64_t>(values[i])) << i;
  }
  EXPECT_EQ(*found.Find("second"), 3);
  EXPECT_EQ(found.Find("third"), nullptr);
}

TEST(Checkpoint, StartsEmptyWithoutAFileOrWithoutResume) {
  const TempFolder folder;
  const std::string path = folder.File("a.part");
  EXPECT_EQ(Checkpoint(path, 7, true).Find("first"), nullptr);
  Checkpoint(path, 7, false).Save("first", 1);
  EXPECT_EQ(Checkpoint(path, 7, false).Find("first"), nullptr);
}

TEST(Checkpoint, RefusesTheFileOfAnotherProblem) {
  const TempFolder folder;
  const std::string path = folder.File("a.part");
  Checkpoint(path, 7, false).Save("first", 1);
  ExpectError(ErrorCode::kBadData, {path, "another fit"}, [&] { Checkpoint(path, 8, true); });
}

TEST(Checkpoint, RefusesAFileCutShort) {
  const TempFolder folder;
  const std::string path = folder.File("a.part");
  Checkpoint(path, 7, false).Save("first", 1);
  const std::string text = ReadText(path, 1 << 20);
  WriteText(path, text.substr(0, text.size() / 2));
  ExpectError(ErrorCode::kBadData, {path}, [&] { Checkpoint(path, 7, true); });
}

}  // namespace
}  // namespace segcal
