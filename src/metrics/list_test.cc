// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.h"
#include "metrics/tiles_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::OwnedTile;
using testing::RandomVoxels;

// Promises that every family keeps, including ones added tomorrow.
class EveryMetric : public ::testing::TestWithParam<const MetricInfo*> {
 protected:
  const MetricInfo& info() const { return *GetParam(); }
};

// Blocks of three tiles, block b added to accumulator b % workers, which then merge.
std::vector<uint64_t> BitsWithWorkers(const MetricInfo& info,
                                      const std::vector<OwnedTile>& tiles,
                                      size_t workers,
                                      bool backwards) {
  const VoxelGrid grid = testing::LineOf(tiles.size() * kTileVoxels);
  std::vector<std::unique_ptr<MetricAccumulator>> parts;
  for (size_t w = 0; w < workers; ++w) parts.push_back(info.make({4, 0, grid}, {}));
  for (size_t first = 0; first < tiles.size(); first += 3) {
    MetricAccumulator& part = *parts[first / 3 % workers];
    for (size_t t = first; t < std::min(first + 3, tiles.size()); ++t) part.Add(tiles[t].View());
    part.Flush();
  }
  if (backwards) std::reverse(parts.begin(), parts.end());
  for (size_t w = 1; w < workers; ++w) parts[0]->Merge(*parts[w]);
  return testing::Bits(*parts[0]);
}

TEST_P(EveryMetric, FinishesTheNumbersItDescribesInTheirOrder) {
  const auto accumulator = Accumulate(info().name, RandomVoxels(/*seed=*/1, 300, 3));
  const std::vector<MetricValue> values = accumulator->Finish();
  ASSERT_EQ(values.size(), info().numbers.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i].name, info().numbers[i].name);
}

TEST_P(EveryMetric, DoesNotDependOnTheSpreadOfBlocksOverAccumulators) {
  const std::vector<OwnedTile> tiles = testing::ToTiles(RandomVoxels(/*seed=*/2, 9001, 4));
  const std::vector<uint64_t> expected = BitsWithWorkers(info(), tiles, 1, false);
  for (const size_t workers : {2u, 3u, 7u}) {
    EXPECT_EQ(BitsWithWorkers(info(), tiles, workers, false), expected) << workers;
    EXPECT_EQ(BitsWithWorkers(info(), tiles, workers, true), expected) << workers;
  }
}

TEST_P(EveryMetric, ValuesLieInTheStatedRangeAndPerClassListsAreComplete) {
  for (const int64_t num_classes : {1, 2, 9}) {
    const auto accumulator = Accumulate(info().name, RandomVoxels(/*seed=*/3, 2000, num_classes));
    const std::vector<MetricValue> values = accumulator->Finish();
    for (size_t i = 0; i < values.size(); ++i) {
      // One class is never wrong and two are never below 1/2: what needs such voxels is undefined.
      if (num_classes <= 2 && std::isnan(values[i].value)) continue;
      EXPECT_GE(values[i].value, info().numbers[i].lowest) << values[i].name;
      EXPECT_LE(values[i].value, info().numbers[i].highest) << values[i].name;
      const auto listed = static_cast<int64_t>(values[i].per_class.size());
      EXPECT_TRUE(listed == 0 || listed == num_classes) << values[i].name << ": " << listed;
    }
  }
}

TEST_P(EveryMetric, IsUndefinedWithoutLabelledVoxel) {
  std::vector<testing::Voxel> ignored = RandomVoxels(/*seed=*/4, 300, 3);
  for (testing::Voxel& voxel : ignored) voxel.label = kNoLabel;
  for (const auto& voxels : {std::vector<testing::Voxel>(), ignored}) {
    for (const MetricValue& number : Accumulate(info().name, voxels)->Finish()) {
      EXPECT_TRUE(std::isnan(number.value)) << number.name << " = " << number.value;
    }
  }
}

TEST_P(EveryMetric, MergingAnEmptyAccumulatorChangesNothing) {
  const auto accumulator = Accumulate(info().name, RandomVoxels(/*seed=*/5, 500, 2));
  const std::vector<uint64_t> before = testing::Bits(*accumulator);
  accumulator->Merge(*Accumulate(info().name, {}));
  accumulator->Flush();
  EXPECT_EQ(testing::Bits(*accumulator), before);
}

// Cases may end in any order, and be pooled over ranks in any grouping.
TEST_P(EveryMetric, PooledDoesNotDependOnTheOrderOfCases) {
  std::vector<std::unique_ptr<MetricAccumulator>> cases;
  for (const uint64_t seed : {11u, 12u, 13u}) {
    cases.push_back(Accumulate(info().name, RandomVoxels(seed, 700, 4)));
    cases.back()->Complete();
  }
  const auto one = info().make({4, -1}, {});
  const auto left = info().make({4, -1}, {});
  const auto right = info().make({4, -1}, {});
  for (const auto& c : cases) one->MergeCase(*c);
  left->MergeCase(*cases[2]);
  right->MergeCase(*cases[1]);
  right->MergeCase(*cases[0]);
  left->Merge(*right);
  EXPECT_EQ(testing::Bits(*left), testing::Bits(*one));
}

// Parts that other machines have added up: packed, sent, unpacked and merged in any order, they
// have the bytes of all voxels added in one place.
TEST_P(EveryMetric, PacksToTheSameBytesInAnyOrder) {
  constexpr size_t kParts = 5;
  const std::vector<OwnedTile> tiles = testing::ToTiles(RandomVoxels(/*seed=*/7, 5003, 4));
  const VoxelGrid grid = testing::LineOf(tiles.size() * kTileVoxels);
  const auto whole = info().make({4, 0, grid}, {});
  std::vector<std::string> sent;
  for (size_t p = 0; p < kParts; ++p) {
    const auto part = info().make({4, 0, grid}, {});
    for (size_t t = p; t < tiles.size(); t += kParts) {
      part->Add(tiles[t].View());
      part->Flush();
      whole->Add(tiles[t].View());
      whole->Flush();
    }
    sent.push_back(testing::Packed(*part));
  }
  EXPECT_GT(sent[0].size(), 8u);
  Rng rng(/*seed=*/8, 0);
  for (int round = 0; round < 4; ++round) {
    for (size_t p = kParts; p-- > 1;)
      std::swap(sent[p], sent[static_cast<size_t>(rng.Below(static_cast<int64_t>(p) + 1))]);
    const auto joined = info().make({4, 0, grid}, {});
    for (const std::string& bytes : sent) {
      const auto part = info().make({4, 0, grid}, {});
      testing::Unpack(bytes, part.get());
      EXPECT_EQ(testing::Packed(*part), bytes);
      joined->Merge(*part);
    }
    EXPECT_EQ(testing::Packed(*joined), testing::Packed(*whole));
    EXPECT_EQ(testing::Bits(*joined), testing::Bits(*whole));
  }
}

TEST_P(EveryMetric, RefusesBytesThatAreNotItsOwn) {
  const auto sums = Accumulate(info().name, RandomVoxels(/*seed=*/9, 700, 3));
  const std::string bytes = testing::Packed(*sums);
  const auto unpack = [&](const std::string& some) {
    testing::Unpack(some, Accumulate(info().name, RandomVoxels(/*seed=*/9, 0, 3)).get());
  };
  EXPECT_THROW(unpack(bytes.substr(0, bytes.size() - 1)), Error);
  EXPECT_THROW(unpack(bytes + '\0'), Error);
}

TEST_P(EveryMetric, CompletingChangesNothing) {
  const auto accumulator = Accumulate(info().name, RandomVoxels(/*seed=*/6, 900, 3));
  const std::vector<uint64_t> before = testing::Bits(*accumulator);
  accumulator->Complete();
  EXPECT_EQ(testing::Bits(*accumulator), before);
}

TEST_P(EveryMetric, KnowsItsDefaultsAndRefusesOtherOptions) {
  EXPECT_NO_THROW(info().make({2, -1}, info().defaults()));
  EXPECT_THROW(info().make({2, -1}, {{"colour", "blue"}}), Error);
}

INSTANTIATE_TEST_SUITE_P(List, EveryMetric, ::testing::ValuesIn(Metrics()), [](const auto& test) {
  return std::string(test.param->name);
});

TEST(MetricList, NamesAreUnique) {
  std::set<std::string> families;
  std::set<std::string> numbers;
  for (const MetricInfo* info : Metrics()) {
    EXPECT_TRUE(families.insert(info->name).second) << info->name;
    for (const MetricNumber& number : info->numbers) {
      EXPECT_TRUE(numbers.insert(number.name).second) << number.name;
    }
  }
}

}  // namespace
}  // namespace segcal
