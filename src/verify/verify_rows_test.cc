// SPDX-License-Identifier: Apache-2.0
#include "verify/verify_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

TEST(RowError, IsTheDistanceOfTheSumFromOne) {
  EXPECT_EQ(RowError(std::vector<float>{0.25f, 0.75f}), 0.0);
  EXPECT_EQ(RowError(std::vector<float>{0.5f, 0.25f}), 0.25);
  EXPECT_EQ(RowError(std::vector<float>{1.0f, 0.5f}), 0.5);
}

TEST(RowError, IsInfiniteWhereAValueIsNoProbability) {
  EXPECT_EQ(RowError(std::vector<float>{NAN, 1.0f}), INFINITY);
  EXPECT_EQ(RowError(std::vector<float>{-0.5f, 1.5f}), INFINITY);
  EXPECT_EQ(RowError(std::vector<float>{INFINITY, 0.0f}), INFINITY);
}

TEST(FindRival, GivesTheLargestThatIsNotBelowTheWinner) {
  EXPECT_FALSE(FindRival(std::vector<float>{0.2f, 0.5f, 0.3f}, 1));
  const auto tie = FindRival(std::vector<float>{0.5f, 0.5f}, 1);
  ASSERT_TRUE(tie);
  EXPECT_EQ(tie->below, 0);
  EXPECT_EQ(tie->amount, 0.0);
  const auto above = FindRival(std::vector<float>{0.25f, 0.125f, 0.5f, 0.125f}, 1);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->above, 1);
  EXPECT_EQ(above->below, 2);
  EXPECT_EQ(above->amount, 0.375);
}

// Oracle: every pair. Few distinct values, so that ties are common.
TEST(FindInversion, AgreesWithLookingAtEveryPair) {
  Rng rng(/*seed=*/1, /*stream=*/0);
  int inverted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const auto n = static_cast<size_t>(1 + rng.Below(5));
    std::vector<double> scores(n);
    std::vector<float> probs(n);
    for (double& s : scores) s = rng.Below(6) == 0 ? -INFINITY : static_cast<double>(rng.Below(4));
    for (float& q : probs) q = static_cast<float>(rng.Below(4)) / 4.0f;
    double expected = 0.0;
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        if (scores[a] > scores[b])
          expected = std::max(expected, static_cast<double>(probs[b] - probs[a]));
      }
    }
    const auto found = FindInversion(scores, probs);
    ASSERT_EQ(found.has_value(), expected > 0.0) << "trial " << trial;
    if (!found) continue;
    ++inverted;
    const auto above = static_cast<size_t>(found->above), below = static_cast<size_t>(found->below);
    EXPECT_GT(scores[above], scores[below]);
    EXPECT_EQ(found->amount, static_cast<double>(probs[below]) - static_cast<double>(probs[above]));
    EXPECT_EQ(found->amount, expected);
  }
  EXPECT_GT(inverted, 1000);
}

CounterExample ExampleAt(int64_t voxel) {
  CounterExample example;
  example.voxel = voxel;
  return example;
}

void Violate(Tally* tally, Tally::Place place) {
  tally->AddVoxel(0.5);
  if (tally->AddViolation(place)) tally->AddExample(place, ExampleAt(place.second));
}

// In whatever order and grouping they come.
TEST(Tally, KeepsTheFirstExamplesByPlace) {
  Tally one(2), two(2), all(2);
  for (const Tally::Place& place : {Tally::Place{1, 5}, {0, 9}, {3, 0}}) Violate(&one, place);
  for (const Tally::Place& place : {Tally::Place{2, 1}, {0, 7}}) Violate(&two, place);
  two.AddVoxel(0.25);
  all.Merge(two);
  all.Merge(one);
  VerifyCheck check;
  all.WriteTo(&check);
  EXPECT_EQ(check.voxels, 6);
  EXPECT_EQ(check.violations, 5);
  EXPECT_EQ(check.worst, 0.5);
  ASSERT_EQ(check.examples.size(), 2u);
  EXPECT_EQ(check.examples[0].voxel, 7);
  EXPECT_EQ(check.examples[1].voxel, 9);
}

TEST(Tally, CountsWithoutKeepingAnyIfNoneIsAskedFor) {
  Tally tally(0);
  Violate(&tally, {0, 1});
  Violate(&tally, {0, 0});
  VerifyCheck check;
  tally.WriteTo(&check);
  EXPECT_EQ(check.violations, 2);
  EXPECT_TRUE(check.examples.empty());
}

}  // namespace
}  // namespace segcal
