// SPDX-License-Identifier: Apache-2.0
#include "page/forest.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

Forest MakeTestForest() {
  return {
      .title = "Family",
      .metric = "NLL",
      .better = "lower is better",
      .rows = {
          {.label = "a → b",
           .own = {.estimate = -0.2, .lower = -0.3, .upper = -0.1, .finding = Finding::kFavours}},
          {.label = "c <d",
           .own = {.estimate = 0.1, .lower = -0.1, .upper = 0.3},
           .published = {{.label = "Elsewhere", .estimate = 0.5, .lower = 0.4, .upper = 0.6}}}}};
}

TEST(ForestSvg, SaysEveryDifferenceAndFindingInItsTitle) {
  const std::string svg = ForestSvg(MakeTestForest());
  EXPECT_NE(svg.find("<title>Family; a → b: -0.2000 [-0.3000, -0.1000], favours; c &lt;d: 0.1000 "
                     "[-0.1000, 0.3000], not significant.</title>"),
            std::string::npos)
      << svg.substr(0, 600);
}

TEST(ForestSvg, ShowsPublishedDifferencesOnTheSameAxis) {
  const std::string svg = ForestSvg(MakeTestForest());
  EXPECT_NE(svg.find(">Elsewhere</text>"), std::string::npos);
  EXPECT_NE(svg.find(">0.5000 [0.4000, 0.6000]</text>"), std::string::npos);
  Forest alone = MakeTestForest();
  alone.rows[1].published.clear();
  EXPECT_LT(ForestSvg(alone).find("height=\""), svg.size());
  EXPECT_EQ(ForestSvg(alone).find("Elsewhere"), std::string::npos);
}

TEST(Words, NamesTheThreeStatesAndTheFourth) {
  EXPECT_STREQ(Words(Finding::kFavours), "favours");
  EXPECT_STREQ(Words(Finding::kAgainst), "against");
  EXPECT_STREQ(Words(Finding::kNotSignificant), "not significant");
  EXPECT_STREQ(Words(Finding::kEqual), "equal by construction");
}

}  // namespace
}  // namespace segcal
