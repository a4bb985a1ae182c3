// SPDX-License-Identifier: Apache-2.0
#include "measures/bins.h"

#include <gtest/gtest.h>

#include <cmath>

namespace segcal {
namespace {

Bin MakeBin(int64_t count, int64_t correct, double mean_confidence) {
  Bin bin{.count = count, .correct = correct, .confidence = {}};
  bin.confidence.Add(mean_confidence * static_cast<double>(count));
  return bin;
}

// Gaps 0.25 and 0.5, weights 1/4 and 3/4.
std::vector<Bin> TwoBins() { return {MakeBin(4, 2, 0.75), {}, MakeBin(12, 3, 0.75)}; }

TEST(BinnedError, NormsOfHandComputedGaps) {
  EXPECT_DOUBLE_EQ(BinnedError(TwoBins(), 16, Norm::kMean), 0.25 * 0.25 + 0.75 * 0.5);
  EXPECT_DOUBLE_EQ(BinnedError(TwoBins(), 16, Norm::kRootMeanSquare),
                   std::sqrt(0.25 * 0.0625 + 0.75 * 0.25));
  EXPECT_DOUBLE_EQ(BinnedError(TwoBins(), 16, Norm::kLargest), 0.5);
  EXPECT_DOUBLE_EQ(AverageError(TwoBins()), 0.375);
}

// Voxels outside all bins weigh as much as others: their gap counts as zero.
TEST(BinnedError, WeighsByTheTotalGiven) {
  EXPECT_DOUBLE_EQ(BinnedError(TwoBins(), 32, Norm::kMean), (4 * 0.25 + 12 * 0.5) / 32);
}

TEST(BinnedError, IsUndefinedWithoutVoxels) {
  for (const Norm norm : {Norm::kMean, Norm::kRootMeanSquare, Norm::kLargest})
    EXPECT_TRUE(std::isnan(BinnedError({{}, {}}, 0, norm)));
  EXPECT_TRUE(std::isnan(AverageError({{}})));
  EXPECT_TRUE(std::isnan(DebiasedError({{}}, 0)));
  EXPECT_TRUE(std::isnan(DecomposeBrier({{}}).uncertainty));
}

TEST(DebiasedError, SubtractsTheNoiseOfAccuracy) {
  const double first = 0.0625 - 0.25 / 3.0;
  const double second = 0.25 - 0.25 * 0.75 / 11.0;
  EXPECT_DOUBLE_EQ(DebiasedError(TwoBins(), 16), std::sqrt(0.25 * first + 0.75 * second));
}

TEST(DebiasedError, IsZeroWhereNoiseExplainsMoreThanTheGaps) {
  EXPECT_EQ(DebiasedError({MakeBin(4, 2, 0.6)}, 4), 0.0);
  EXPECT_EQ(DebiasedError({MakeBin(1, 1, 0.6)}, 1), 0.0);  // one voxel says nothing
}

// A forecast that is constant in every bin: the parts make up its squared error.
TEST(DecomposeBrier, PartsMakeUpTheScoreOfBinMeans) {
  const std::vector<Bin> bins = TwoBins();
  const BrierParts parts = DecomposeBrier(bins);
  const double score = (2 * 0.0625 + 2 * 0.5625 + 3 * 0.0625 + 9 * 0.5625) / 16.0;
  EXPECT_NEAR(parts.reliability - parts.resolution + parts.uncertainty, score, 1e-15);
  EXPECT_DOUBLE_EQ(parts.uncertainty, 5.0 / 16.0 * 11.0 / 16.0);
  EXPECT_DOUBLE_EQ(parts.reliability, 0.25 * 0.0625 + 0.75 * 0.25);
}

}  // namespace
}  // namespace segcal
