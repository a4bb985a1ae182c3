// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

constexpr int64_t kBlockClasses = 4;

// Positive definite, [block][size][size].
std::vector<double> RandomBlocks(const AffineShape& shape) {
  const BlockLayout layout(shape);
  std::vector<double> blocks;
  Rng rng(5, 0);
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    std::vector<double> x;
    for (int64_t i = 0; i < layout.size; ++i) x.push_back(rng.Normal());
    for (int64_t i = 0; i < layout.size * layout.size; ++i) {
      const auto row = static_cast<size_t>(i / layout.size);
      const auto column = static_cast<size_t>(i % layout.size);
      blocks.push_back(x[row] * x[column] + (row == column ? 1.0 : 0.0));
    }
  }
  return blocks;
}

// Products with the blocks on the free parameters, then with their inverse, are where they began,
// but for the damping: 1e-7 of entries of at most about ten.
TEST(AffineBlocks, InvertsWhatTheBlocksAreOnFreeParameters) {
  for (const AffineSpace space : {AffineSpace::kWinnerGaps, AffineSpace::kSortedGaps}) {
    const AffineShape shape{.space = space, .per_decision = true, .num_classes = kBlockClasses};
    const BlockLayout layout(shape);
    const std::vector<double> blocks = RandomBlocks(shape);
    const auto size = static_cast<size_t>(shape.num_parameters());
    std::vector<char> free(size, 1);
    free[1] = free[5] = 0;
    for (size_t k = 8; k < size; ++k) free[k] = 0;  // a whole row
    std::vector<double> v(size, 0.0);
    for (size_t i = 0; i < size; ++i) v[i] = free[i] != 0 ? std::sin(static_cast<double>(i)) : 0.0;
    std::vector<double> product(size, 0.0);
    auto entry = blocks.begin();
    for (int64_t b = 0; b < layout.num_blocks; ++b) {
      for (int64_t i = 0; i < layout.size * layout.size; ++i, ++entry) {
        const auto row = static_cast<size_t>(layout.Parameter(b, i / layout.size));
        if (free[row] == 0) continue;
        product[row] += *entry * v[static_cast<size_t>(layout.Parameter(b, i % layout.size))];
      }
    }
    const std::vector<double> back = AffineBlocks(shape, blocks).Inverse(free)(product);
    for (size_t i = 0; i < size; ++i) EXPECT_NEAR(back[i], v[i], 1e-6) << i;
  }
}

// In a box, the step of blocks that know nothing of each other is that of each block: no slope is
// left but at bounds that hold it.
TEST(AffineBlocks, StepEndsAtTheMinimumOverTheBox) {
  const AffineShape shape{
      .space = AffineSpace::kSortedGaps, .per_decision = true, .num_classes = kBlockClasses};
  const BlockLayout layout(shape);
  const std::vector<double> blocks = RandomBlocks(shape);
  const auto size = static_cast<size_t>(shape.num_parameters());
  const Box box{.lower = std::vector<double>(size, 0.0), .upper = std::vector<double>(size, 10.0)};
  std::vector<double> point(size, 0.0);
  std::vector<double> slope(size);
  for (size_t i = 0; i < size; ++i) {
    slope[i] = std::sin(static_cast<double>(i));
    if (i % 2 == 0) point[i] = 0.3;
  }
  const std::vector<double> step = AffineBlocks(shape, blocks).Step(box, point, slope);
  std::vector<double> end = point;
  std::vector<double> left = slope;
  auto entry = blocks.begin();
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    for (int64_t i = 0; i < layout.size * layout.size; ++i, ++entry) {
      left[static_cast<size_t>(layout.Parameter(b, i / layout.size))] +=
          *entry * step[static_cast<size_t>(layout.Parameter(b, i % layout.size))];
    }
  }
  int64_t at_bound = 0;
  for (size_t i = 0; i < size; ++i) {
    end[i] += step[i];
    at_bound += end[i] == 0.0 ? 1 : 0;
  }
  EXPECT_GT(at_bound, 0);
  EXPECT_LT(at_bound, shape.num_parameters());
  EXPECT_LT(box.ProjectedNorm(end, left), 1e-5);
}

// A row without curvature and one of too little rank, as few voxels leave them: results are finite.
TEST(AffineBlocks, HasFactorsOfSingularBlocks) {
  const AffineShape shape{
      .space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = kBlockClasses};
  std::vector<double> blocks = RandomBlocks(shape);
  const auto block = blocks.size() / 3;
  std::fill_n(blocks.begin(), block, 0.0);
  std::fill_n(blocks.begin() + static_cast<int64_t>(block), block, 2.0);
  blocks[block] -= 1e-6;  // rounding makes it indefinite
  const std::vector<char> free(static_cast<size_t>(shape.num_parameters()), 1);
  const std::vector<double> v(free.size(), 1.0);
  for (const double x : AffineBlocks(shape, blocks).Inverse(free)(v)) EXPECT_TRUE(std::isfinite(x));
}

// What is common to all rows changes no probability: it is neither seen nor made.
TEST(AffineBlocks, LeavesOutWhatIsCommonToAllRows) {
  const AffineShape shape{.space = AffineSpace::kRaw, .num_classes = kBlockClasses};
  const auto n = static_cast<size_t>(shape.num_features());
  const std::vector<char> free(static_cast<size_t>(shape.num_parameters()), 1);
  const Product inverse = AffineBlocks(shape, RandomBlocks(shape)).Inverse(free);
  std::vector<double> v(free.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = std::cos(static_cast<double>(i));
  std::vector<double> shifted = v;
  for (size_t i = 0; i < v.size(); ++i) shifted[i] += static_cast<double>(i % n) - 1.5;
  const std::vector<double> result = inverse(v);
  const std::vector<double> same = inverse(shifted);
  for (size_t k = 0; k < n; ++k) {
    double sum = 0.0;
    for (size_t i = k; i < v.size(); i += n) {
      EXPECT_NEAR(result[i], same[i], 1e-12);
      sum += result[i];
    }
    EXPECT_NEAR(sum, 0.0, 1e-12);
  }
}

}  // namespace
}  // namespace segcal
