// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/prob_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/rng.h"

namespace segcal {
namespace {

TEST(ProbKey, GrowsWithEveryFloatAndTellsThemApart) {
  EXPECT_EQ(ProbKey(0.0f), 0u);
  EXPECT_EQ(ProbKey(1.0f), 0x7E000000u);
  for (const float start :
       {0x1p-126f, 1e-20f, 1e-3f, 0.3f, 0.4999f, 0.9f, 0.999f, 1.0f - 0x1p-12f}) {
    float p = start;
    for (int i = 0; i < 4000 && p < 1.0f; ++i) {
      const float next = std::nextafter(p, 2.0f);
      ASSERT_LT(ProbKey(p), ProbKey(next)) << p;
      p = next;
    }
  }
}

// The resolution stated in the header: equal keys mean p or 1 - p equal to 2^(s - 23).
TEST(ProbKey, WithoutItsLastBitsGroupsValuesThatAgree) {
  Rng rng(3, 0);
  const int dropped = 12;
  for (int i = 0; i < 20000; ++i) {
    const auto p = static_cast<float>(i % 2 == 0 ? rng.Uniform() : std::exp(-20.0 * rng.Uniform()));
    const float q = p * (1.0f + 0x1p-13f * static_cast<float>(rng.Uniform()));
    if (ProbKey(p) >> dropped != ProbKey(q) >> dropped) continue;
    const float base = p <= 0.5f ? p : 1.0f - p;
    EXPECT_LE(std::fabs(q - p), base * 0x1p-11f) << p << " " << q;
  }
}

struct Pair {
  float p;
  bool hit;
};

std::vector<Pair> SomePairs(int count) {
  Rng rng(5, 0);
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) {
    const auto p = static_cast<float>(rng.Uniform());
    pairs.push_back({p, rng.Uniform() < static_cast<double>(p)});
  }
  pairs.push_back({0.0f, false});
  pairs.push_back({1.0f, true});
  return pairs;
}

TEST(ProbCells, KeepEveryValueApartWhileTheyFit) {
  std::map<float, std::pair<int64_t, int64_t>> expected;
  ProbCells cells(10000);
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const Pair& pair : SomePairs(2000)) {
      cells.Add(pair.p, pair.hit);
      ++expected[pair.p].first;
      expected[pair.p].second += pair.hit ? 1 : 0;
    }
  }
  EXPECT_EQ(cells.dropped_bits(), 0);
  const std::vector<ProbCell> sorted = cells.Sorted();
  ASSERT_EQ(sorted.size(), expected.size());
  size_t i = 0;
  for (const auto& [p, counts] : expected) {
    EXPECT_EQ(sorted[i].lower, p);
    EXPECT_EQ(sorted[i].upper, p);
    EXPECT_EQ(sorted[i].count, counts.first);
    EXPECT_EQ(sorted[i].hits, counts.second);
    ++i;
  }
}

// The finest resolution that fits, whichever way the data came: in one go, reversed, in parts.
TEST(ProbCells, DoNotDependOnTheOrderOrOnThePartsOfTheData) {
  std::vector<Pair> pairs = SomePairs(30000);
  const auto fill = [](ProbCells* cells, const std::vector<Pair>& list, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) cells->Add(list[i].p, list[i].hit);
  };
  ProbCells whole(500);
  fill(&whole, pairs, 0, pairs.size());
  EXPECT_GT(whole.dropped_bits(), 0);
  EXPECT_LE(whole.Sorted().size(), 500u);

  ProbCells small(500), large(500), merged(500);
  fill(&small, pairs, 0, 100);
  fill(&large, pairs, 100, pairs.size());
  merged.Merge(small);
  merged.Merge(large);
  std::reverse(pairs.begin(), pairs.end());
  ProbCells reversed(500);
  fill(&reversed, pairs, 0, pairs.size());
  reversed.Merge(ProbCells(500));

  const std::vector<ProbCell> expected = whole.Sorted();
  for (const ProbCells* other : {&merged, &reversed}) {
    EXPECT_EQ(other->dropped_bits(), whole.dropped_bits());
    const std::vector<ProbCell> found = other->Sorted();
    ASSERT_EQ(found.size(), expected.size());
    int64_t total = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].key, expected[i].key);
      EXPECT_EQ(found[i].lower, expected[i].lower);
      EXPECT_EQ(found[i].upper, expected[i].upper);
      EXPECT_EQ(found[i].count, expected[i].count);
      EXPECT_EQ(found[i].hits, expected[i].hits);
      total += found[i].count;
    }
    EXPECT_EQ(total, 30002);
  }
  // One bit less would not have fitted.
  std::vector<uint32_t> finer;
  for (const Pair& pair : pairs) finer.push_back(ProbKey(pair.p) >> (whole.dropped_bits() - 1));
  std::sort(finer.begin(), finer.end());
  EXPECT_GT(std::unique(finer.begin(), finer.end()) - finer.begin(), 500);
}

}  // namespace
}  // namespace segcal
