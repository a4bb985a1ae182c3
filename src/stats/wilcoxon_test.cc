// SPDX-License-Identifier: Apache-2.0
#include "stats/wilcoxon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace segcal {
namespace {

using Values = std::vector<double>;

// Fourteen of fourteen better: one choice of signs in 2^14 on either side.
TEST(WilcoxonSignedRank, OfDifferencesOfOneSignIsTheRarestChoice) {
  Values differences(14);
  for (size_t i = 0; i < 14; ++i) differences[i] = -0.01 * static_cast<double>(i + 1);
  const WilcoxonResult result = WilcoxonSignedRank(differences);
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.w, 0.0);
  EXPECT_EQ(result.p, std::ldexp(1.0, -13));
  EXPECT_EQ(WilcoxonSignedRank(differences, Alternative::kLess).p, std::ldexp(1.0, -14));
  EXPECT_EQ(WilcoxonSignedRank(differences, Alternative::kGreater).p, 1.0);
}

// (WX2) by trying all 2^6 signs.
TEST(WilcoxonSignedRank, ExactTailCountsSigns) {
  const Values differences = {0.5, -1.0, 2.0, 3.5, -0.25, 4.0};
  const WilcoxonResult result = WilcoxonSignedRank(differences, Alternative::kGreater);
  EXPECT_EQ(result.w, 2.0 + 4.0 + 5.0 + 6.0);
  int as_large = 0;
  for (int signs = 0; signs < 64; ++signs) {
    double w = 0.0;
    for (int k = 0; k < 6; ++k) w += ((signs >> k) & 1) != 0 ? k + 1.0 : 0.0;
    as_large += w >= result.w ? 1 : 0;
  }
  EXPECT_DOUBLE_EQ(result.p, as_large / 64.0);
}

TEST(WilcoxonSignedRank, IsNormalForTiesZerosAndManyDifferences) {
  EXPECT_TRUE(WilcoxonSignedRank(Values{1, 2, -3}).exact);
  EXPECT_FALSE(WilcoxonSignedRank(Values{1, 2, -2}).exact);
  EXPECT_FALSE(WilcoxonSignedRank(Values{1, 2, -3, 0}).exact);
  Values many(50);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i) + 1.0;
  EXPECT_TRUE(WilcoxonSignedRank(many).exact);
  many.push_back(51.0);
  EXPECT_FALSE(WilcoxonSignedRank(many).exact);
}

// (WX3) by hand: sizes 1, 2, 2, of which the first 2 is negative; W = 1 + 2.5.
TEST(WilcoxonSignedRank, CorrectsTheVarianceForTies) {
  const WilcoxonResult result = WilcoxonSignedRank(Values{1, -2, 2}, Alternative::kGreater);
  EXPECT_EQ(result.w, 3.5);
  const double deviation = std::sqrt((3.0 * 4.0 * 7.0 - 0.5 * (8.0 - 2.0)) / 24.0);
  EXPECT_DOUBLE_EQ(result.p, 0.5 * std::erfc((3.5 - 3.0) / deviation / std::sqrt(2.0)));
}

TEST(WilcoxonSignedRank, LeavesOutWhatIsUndefined) {
  const Values differences = {0.5, -1.0, 2.0, 3.5};
  Values more = differences;
  more.insert(more.begin() + 2, std::nan(""));
  EXPECT_EQ(WilcoxonSignedRank(more).p, WilcoxonSignedRank(differences).p);
  EXPECT_TRUE(WilcoxonSignedRank(more).exact);
}

TEST(WilcoxonSignedRank, OfNothingFindsNothing) {
  EXPECT_EQ(WilcoxonSignedRank(Values{0, 0, 0}).p, 1.0);
  EXPECT_TRUE(std::isnan(WilcoxonSignedRank(Values{}).p));
  EXPECT_TRUE(std::isnan(WilcoxonSignedRank(Values{std::nan("")}).p));
}

}  // namespace
}  // namespace segcal
