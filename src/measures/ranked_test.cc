// SPDX-License-Identifier: Apache-2.0
#include "measures/ranked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/rng.h"
#include "kernels/tile.h"

namespace segcal {
namespace {

struct Sample {
  float confidence = 0.0f;
  bool correct = false;
};

// Confidences with many ties.
std::vector<Sample> RandomSamples(uint64_t seed, int n, int64_t levels) {
  Rng rng(seed, 0);
  std::vector<Sample> samples;
  for (int i = 0; i < n; ++i) {
    const auto x = static_cast<float>(rng.Below(levels) + 1) / static_cast<float>(levels);
    samples.push_back({x, rng.Uniform() < static_cast<double>(x)});
  }
  return samples;
}

std::vector<TieGroup> GroupsOf(const std::vector<Sample>& samples) {
  RankedValues values;
  for (const Sample& sample : samples) values.Add(sample.confidence, sample.correct);
  return values.Groups();
}

TEST(RankedValues, GroupsAreSortedTies) {
  const std::vector<TieGroup> groups =
      GroupsOf({{0.5f, true}, {0.25f, false}, {0.5f, false}, {1.0f, true}, {0.0f, true}});
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].confidence, 0.0);
  EXPECT_EQ(groups[2].confidence, 0.5);
  EXPECT_EQ(groups[2].count, 2);
  EXPECT_EQ(groups[2].correct, 1);
}

// Enough values for the counting sort.
TEST(RankedValues, GroupsAscendWhateverTheNumber) {
  for (const int n : {1, 2047, 2048, 30000}) {
    const std::vector<TieGroup> groups = GroupsOf(RandomSamples(3, n, 1 << 22));
    EXPECT_EQ(CountVoxels(groups), n);
    for (size_t i = 1; i < groups.size(); ++i)
      ASSERT_LT(groups[i - 1].confidence, groups[i].confidence);
  }
}

// Twin: the same from a list of groups. Many ties and none, few values and enough to count.
TEST(RankedValues, NumbersAreThoseOfTheGroups) {
  for (const int64_t levels : {3, 1 << 22}) {
    for (const int n : {0, 1, 2047, 30000}) {
      RankedValues values;
      for (const Sample& sample : RandomSamples(5, n, levels))
        values.Add(sample.confidence, sample.correct);
      const RankNumbers of_groups = NumbersOfRanks(values.Groups());
      values.Sort();
      const RankNumbers numbers = values.Numbers();
      EXPECT_EQ(std::memcmp(&numbers, &of_groups, sizeof(numbers)), 0) << n << " of " << levels;
    }
  }
}

// Every confidence a case may have: the digits of the sort start at the lowest.
TEST(RankedValues, GroupsAscendOverTheWholeRange) {
  RankedValues values;
  Rng rng(6, 0);
  for (int i = 0; i < 5000; ++i)
    values.Add(std::ldexp(static_cast<float>(rng.Uniform()), -static_cast<int>(rng.Below(140))),
               rng.Below(2) == 0);
  values.Add(0.0f, true);
  const std::vector<TieGroup> groups = values.Groups();
  EXPECT_EQ(CountVoxels(groups), 5001);
  for (size_t i = 1; i < groups.size(); ++i)
    ASSERT_LT(groups[i - 1].confidence, groups[i].confidence);
}

TEST(RankedValues, TakeTheLabelledVoxelsOfATile) {
  alignas(64) float confidence[kTileVoxels];
  alignas(64) uint16_t predicted[kTileVoxels];
  alignas(64) int32_t labels[kTileVoxels];
  RankedValues one_by_one;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    confidence[v] = 0.5f + static_cast<float>(v % 50) * 0.01f;
    predicted[v] = static_cast<uint16_t>(v % 3);
    labels[v] = v % 5 == 0 ? kNoLabel : static_cast<int32_t>(v % 4);
    if (labels[v] != kNoLabel) one_by_one.Add(confidence[v], labels[v] == predicted[v]);
  }
  RankedValues tile;
  tile.AddTile(confidence, predicted, labels);
  EXPECT_EQ(PackedSums(tile), PackedSums(one_by_one));
}

TEST(RankedValues, MergeWithItselfDoubles) {
  RankedValues values;
  values.Add(0.5f, true);
  values.Merge(values);
  EXPECT_EQ(values.Groups()[0].count, 2);
}

TEST(RankKey, AscendsAndStaysInRange) {
  int64_t last = -1;
  for (float x = 0.0f; x < 1.1f; x = std::nextafter(x * 1.0007f + 1e-9f, 2.0f)) {
    const int64_t key = RankKey(x);
    EXPECT_GE(key, last);
    last = key;
  }
  EXPECT_EQ(RankKey(0.0f), 0);
  EXPECT_EQ(RankKey(1.0f), kNumRankKeys - 1);
  EXPECT_EQ(RankKey(std::nextafter(1.0f, 2.0f)), kNumRankKeys - 1);
  EXPECT_LT(RankKey(0.5f), RankKey(std::nextafter(0.5f, 1.0f)));
  EXPECT_LT(RankKey(std::nextafter(1.0f, 0.0f)), kNumRankKeys - 1);
}

// Twin: all pairs.
TEST(Auroc, IsTheShareOfPairsInOrder) {
  const std::vector<Sample> samples = RandomSamples(1, 300, 20);
  double won = 0.0, pairs = 0.0;
  for (const Sample& right : samples) {
    for (const Sample& wrong : samples) {
      if (!right.correct || wrong.correct) continue;
      pairs += 1.0;
      won += right.confidence > wrong.confidence    ? 1.0
             : right.confidence == wrong.confidence ? 0.5
                                                    : 0.0;
    }
  }
  EXPECT_NEAR(NumbersOfRanks(GroupsOf(samples)).auroc, won / pairs, 1e-15);
}

TEST(Auroc, NeedsRightAndWrongVoxels) {
  EXPECT_TRUE(std::isnan(NumbersOfRanks(GroupsOf({{0.5f, true}, {0.7f, true}})).auroc));
  EXPECT_TRUE(std::isnan(NumbersOfRanks(GroupsOf({{0.5f, false}})).auroc));
  EXPECT_TRUE(std::isnan(NumbersOfRanks(GroupsOf({{0.5f, true}})).error_precision));
  EXPECT_EQ(NumbersOfRanks(GroupsOf({{0.5f, false}, {0.7f, true}})).auroc, 1.0);
}

// By hand: thresholds 0.9 (1 of 1 right), 0.8 (1 of 2), 0.6 (2 of 3, 3 of 4 with the tie).
TEST(AveragePrecision, OfAHandComputedRanking) {
  const auto groups = GroupsOf({{0.9f, true}, {0.8f, false}, {0.6f, true}, {0.6f, true}});
  EXPECT_DOUBLE_EQ(NumbersOfRanks(groups).success_precision, (1.0 * 1.0 + 2.0 * 0.75) / 3.0);
  EXPECT_DOUBLE_EQ(NumbersOfRanks(groups).error_precision, 1.0 / 3.0);
}

// Twin: every order of equal confidences is as good; the mean over many shuffles converges, and
// without ties it is one sum.
TEST(RiskCoverageArea, IsTheMeanRiskOverRanks) {
  std::vector<Sample> samples = RandomSamples(2, 1000, 1 << 22);
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return a.confidence > b.confidence;
  });
  double sum = 0.0, wrong = 0.0;
  for (size_t k = 0; k < samples.size(); ++k) {
    wrong += samples[k].correct ? 0.0 : 1.0;
    sum += wrong / static_cast<double>(k + 1);
  }
  EXPECT_NEAR(NumbersOfRanks(GroupsOf(samples)).risk_coverage_area, sum / 1000.0, 1e-13);
}

TEST(RiskCoverageArea, SpreadsTheErrorsOfATieEvenly) {
  EXPECT_DOUBLE_EQ(NumbersOfRanks(GroupsOf({{0.5f, true}, {0.5f, false}})).risk_coverage_area, 0.5);
  // One certain voxel that is right, then a tie of two with one error: 0, 1/4, 1/3.
  EXPECT_NEAR(
      NumbersOfRanks(GroupsOf({{1.0f, true}, {0.5f, true}, {0.5f, false}})).risk_coverage_area,
      (0.0 + 0.25 + 1.0 / 3.0) / 3.0,
      1e-15);
}

// Large ties go through a series; term by term is the twin.
TEST(RiskCoverageArea, OfLargeTiesMatchesTermByTerm) {
  const std::vector<TieGroup> groups = {{0.5, 70001, 20000}, {0.75, 3000, 2000}, {1.0, 401, 399}};
  long double sum = 0, before = 0;
  int64_t rank = 0;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    const long double rate = static_cast<long double>(group->count - group->correct) / group->count;
    for (int64_t i = 1; i <= group->count; ++i) sum += (before + rate * i) / ++rank;
    before += static_cast<long double>(group->count - group->correct);
  }
  EXPECT_NEAR(NumbersOfRanks(groups).risk_coverage_area, static_cast<double>(sum / rank), 1e-14);
}

TEST(RiskCoverage, EndsAtTheErrorRate) {
  const std::vector<TieGroup> groups = GroupsOf(RandomSamples(4, 777, 50));
  const std::vector<RiskRow> curve = RiskCoverage(groups, 100);
  ASSERT_EQ(curve.size(), 100u);
  EXPECT_EQ(curve.back().coverage, 1.0);
  EXPECT_DOUBLE_EQ(curve.back().risk, static_cast<double>(CountWrong(groups)) / 777.0);
  EXPECT_EQ(curve.back().confidence, groups.front().confidence);
  EXPECT_EQ(curve.front().confidence, 1.0);
  EXPECT_TRUE(RiskCoverage({}, 100).empty());
}

TEST(KsError, IsTheLargestCumulatedGap) {
  // Sorted: 0.25 wrong, 0.5 right, 1 wrong. Sums: 0.25, -0.25, 0.75.
  const auto groups = GroupsOf({{1.0f, false}, {0.25f, false}, {0.5f, true}});
  EXPECT_DOUBLE_EQ(NumbersOfRanks(groups).ks_error, 0.75 / 3.0);
  EXPECT_TRUE(std::isnan(NumbersOfRanks(std::span<const TieGroup>()).ks_error));
}

TEST(EqualMassBins, CutTheSortedVoxelsEvenly) {
  const auto groups =
      GroupsOf({{0.1f, false}, {0.2f, true}, {0.3f, false}, {0.4f, true}, {0.5f, true}});
  const std::vector<MassBin> bins = EqualMassBins(groups, 2);
  EXPECT_EQ(bins[0].count, 2.0);
  EXPECT_EQ(bins[1].count, 3.0);
  EXPECT_EQ(bins[1].correct, 2.0);
  EXPECT_NEAR(bins[0].confidence, 0.3, 1e-7);
}

TEST(EqualMassBins, ShareOutATie) {
  const std::vector<MassBin> bins = EqualMassBins(std::vector<TieGroup>{{0.5, 10, 4}}, 4);
  EXPECT_EQ(bins[0].count, 2.0);
  EXPECT_DOUBLE_EQ(bins[0].correct, 0.8);
  EXPECT_EQ(bins[1].count, 3.0);
  EXPECT_NEAR(bins[3].Gap(), 0.1, 1e-15);
}

TEST(EqualMassBins, MayBeEmptyWithFewVoxels) {
  const std::vector<MassBin> bins = EqualMassBins(std::vector<TieGroup>{{0.5, 1, 1}}, 3);
  EXPECT_EQ(bins[0].count + bins[1].count, 0.0);
  EXPECT_EQ(bins[2].count, 1.0);
}

TEST(Percentiles, InterpolateBetweenOrderStatistics) {
  const std::vector<TieGroup> groups = {{0.0, 2, 0}, {0.5, 1, 0}, {1.0, 2, 0}};
  // Positions 1, 2, 3 of five values.
  EXPECT_EQ(Percentiles(groups, 4), (std::vector<double>{0.0, 0.5, 1.0}));
  // Positions 4/3 and 8/3.
  const std::vector<double> thirds = Percentiles(groups, 3);
  EXPECT_NEAR(thirds[0], 0.5 / 3.0, 1e-15);
  EXPECT_NEAR(thirds[1], 0.5 + 0.5 * 2.0 / 3.0, 1e-15);
}

}  // namespace
}  // namespace segcal
