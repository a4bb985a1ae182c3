// SPDX-License-Identifier: Apache-2.0
#include "data/file_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

std::vector<std::string> PathsOf(const TempFolder& folder, const std::string& pattern) {
  std::vector<std::string> paths;
  for (const PatternMatch& match : FindFiles(folder.File(pattern))) {
    paths.push_back(match.path.substr(folder.path().size() + 1));
  }
  return paths;
}
using Paths = std::vector<std::string>;

TEST(NaturalLess, ComparesRunsOfDigitsAsNumbers) {
  Paths names = {
      "m10", "m2", "a", "m1", "m02b", "m2a", "m", "m20", "m00000000000000000000009", "b3"};
  std::sort(names.begin(), names.end(), NaturalLess);
  EXPECT_EQ(
      names,
      (Paths{"a", "b3", "m", "m1", "m2", "m2a", "m02b", "m00000000000000000000009", "m10", "m20"}));
}

// Sorting is undefined otherwise.
TEST(NaturalLess, IsAStrictOrder) {
  const Paths names = {"",
                       "0",
                       "00",
                       "01",
                       "1",
                       "1a",
                       "01a",
                       "a",
                       "a0",
                       "a00",
                       "a1",
                       "a01b",
                       "a1b",
                       "10",
                       "9",
                       "a9z10"};
  for (const std::string& a : names) {
    EXPECT_FALSE(NaturalLess(a, a)) << a;
    for (const std::string& b : names) {
      EXPECT_EQ(NaturalLess(a, b), a != b && !NaturalLess(b, a)) << a << " " << b;
      for (const std::string& c : names) {
        const bool chain = NaturalLess(a, b) && NaturalLess(b, c);
        EXPECT_TRUE(!chain || NaturalLess(a, c)) << a << " " << b << " " << c;
      }
    }
  }
}

TEST(FindFiles, SaysWhatFieldsStandFor) {
  const TempFolder folder;
  folder.Put("preds/m2/0001.npy", "");
  folder.Put("preds/m10/0001.npy", "");
  folder.Put("preds/m2/0001.png", "");
  folder.Put("preds/deeper/m2/0001.npy", "");
  const auto matches = FindFiles(folder.File("preds/{member}/{case}.npy"));
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].values.at("member"), "m2");
  EXPECT_EQ(matches[0].values.at("case"), "0001");
  EXPECT_EQ(matches[0].path, folder.File("preds/m2/0001.npy"));
  EXPECT_EQ(matches[1].values.at("member"), "m10");
}

TEST(FindFiles, RequiresTheSameTextForTheSameField) {
  const TempFolder folder;
  folder.Put("a/a_pred.npy", "");
  folder.Put("b/a_pred.npy", "");
  EXPECT_EQ(PathsOf(folder, "{case}/{case}_pred.npy"), (Paths{"a/a_pred.npy"}));
}

TEST(FindFiles, TakesAsLittleAsItCanForAFieldAndAsMuchForAStar) {
  const TempFolder folder;
  folder.Put("a_b_c.npy", "");
  const auto values = [&](const std::string& pattern) {
    const auto matches = FindFiles(folder.File(pattern));
    return matches.empty() ? std::map<std::string, std::string>{} : matches[0].values;
  };
  using Values = std::map<std::string, std::string>;
  EXPECT_EQ(values("{case}_*.npy"), (Values{{"case", "a"}}));
  EXPECT_EQ(values("*_{case}.npy"), (Values{{"case", "c"}}));
  EXPECT_EQ(values("*{case}*.npy"), (Values{{"case", "c"}}));
  EXPECT_EQ(values("{case}_{member}.npy"), (Values{{"case", "a"}, {"member", "b_c"}}));
  EXPECT_EQ(values("{case}_{member}_c.npy"), (Values{{"case", "a"}, {"member", "b"}}));
  EXPECT_EQ(values("{case}_b_c{member}.npy"), Values{});  // a field is never empty
}

// The first reading that fits a piece need not fit the whole.
TEST(FindFiles, GoesBackWhereTheSameFieldComesAgain) {
  const TempFolder folder;
  folder.Put("x_1/x_1_x.npy", "");
  EXPECT_EQ(FindFiles(folder.File("{case}/{case}_{group}.npy")).at(0).values,
            (std::map<std::string, std::string>{{"case", "x_1"}, {"group", "x"}}));
}

TEST(FindFiles, TakesAStarForAnythingWithinAName) {
  const TempFolder folder;
  folder.Put("x/0001_gt.png", "");
  folder.Put("y/0001.png", "");
  folder.Put("y/z/0001.png", "");
  EXPECT_EQ(PathsOf(folder, "*/{case}*.png"), (Paths{"x/0001_gt.png", "y/0001.png"}));
}

// One by one, sixty stars would share this name out in more ways than can be tried.
TEST(FindFiles, TakesStarsInARowForOne) {
  const TempFolder folder;
  folder.Put("a_long_name_of_a_prediction.npy", "");
  EXPECT_TRUE(FindFiles(folder.File(std::string(60, '*') + "{case}.png")).empty());
  EXPECT_EQ(FindFiles(folder.File(std::string(60, '*') + "_{case}.npy")).at(0).values.at("case"),
            "prediction");
}

TEST(FindFiles, TakesOtherCharactersLiterally) {
  const TempFolder folder;
  folder.Put("a+(1).[x]/c^1$.npy", "");
  folder.Put("a/c1.npy", "");
  folder.Put("aXnpy", "");
  EXPECT_EQ(PathsOf(folder, "a+(1).[x]/{case}^1$.npy"), (Paths{"a+(1).[x]/c^1$.npy"}));
  EXPECT_TRUE(PathsOf(folder, "{case}.npy").empty());
  folder.Put("\u00e9t\u00e9 1.npy", "");
  EXPECT_EQ(PathsOf(folder, "\u00e9t\u00e9 {case}.npy").size(), 1u);
}

TEST(FindFiles, FindsNothingInAFolderThatDoesNotExist) {
  const TempFolder folder;
  EXPECT_TRUE(FindFiles(folder.File("absent/{case}.npy")).empty());
}

TEST(FindFiles, LeavesOutFolders) {
  const TempFolder folder;
  folder.Put("a.npy/inside", "");
  EXPECT_TRUE(PathsOf(folder, "{case}.npy").empty());
}

TEST(FindFiles, RefusesPatternsThatCannotBeRead) {
  ExpectError(ErrorCode::kInvalidArgument, {"x/{id}.npy", "{id}", "{case}"}, [] {
    FindFiles("x/{id}.npy");
  });
  ExpectError(ErrorCode::kInvalidArgument, {"x/{case.npy"}, [] { FindFiles("x/{case.npy"); });
}

}  // namespace
}  // namespace segcal
