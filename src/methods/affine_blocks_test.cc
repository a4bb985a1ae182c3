// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace segcal {
namespace {

constexpr int64_t kClasses = 4;

// Positive definite, [row][feature][feature].
std::vector<double> RandomBlocks(const AffineShape& shape) {
  const int64_t n = shape.num_features();
  std::vector<double> blocks;
  Rng rng(5, 0);
  for (int64_t r = 0; r < shape.num_rows(); ++r) {
    std::vector<double> x;
    for (int64_t k = 0; k < n; ++k) x.push_back(rng.Normal());
    for (int64_t a = 0; a < n; ++a) {
      for (int64_t b = 0; b < n; ++b) {
        blocks.push_back(x[static_cast<size_t>(a)] * x[static_cast<size_t>(b)] +
                         (a == b ? 1.0 : 0.0));
      }
    }
  }
  return blocks;
}

// Products with the blocks on the free parameters, then with their inverse, are where they began,
// but for the damping: 1e-7 of entries of at most about ten.
TEST(RowBlocks, InvertsWhatTheBlocksAreOnFreeParameters) {
  const AffineShape shape{
      .space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = kClasses};
  const std::vector<double> blocks = RandomBlocks(shape);
  const auto n = static_cast<size_t>(shape.num_features());
  const auto size = static_cast<size_t>(shape.num_parameters());
  std::vector<char> free(size, 1);
  free[1] = free[n] = 0;
  for (size_t k = 2 * n; k < 3 * n; ++k) free[k] = 0;  // a whole row
  std::vector<double> v(size, 0.0);
  for (size_t i = 0; i < size; ++i) v[i] = free[i] != 0 ? std::sin(static_cast<double>(i)) : 0.0;
  std::vector<double> product(size, 0.0);
  for (size_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < n && free[i] != 0; ++k)
      product[i] += blocks[i * n + k] * v[i / n * n + k];
  }
  const std::vector<double> back = RowBlocks(shape, blocks).On(free)(product);
  for (size_t i = 0; i < size; ++i) EXPECT_NEAR(back[i], v[i], 1e-6) << i;
}

// A row without curvature and one of too little rank, as few voxels leave them: results are finite.
TEST(RowBlocks, HasFactorsOfSingularBlocks) {
  const AffineShape shape{
      .space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = kClasses};
  std::vector<double> blocks = RandomBlocks(shape);
  const auto block = blocks.size() / 3;
  std::fill_n(blocks.begin(), block, 0.0);
  std::fill_n(blocks.begin() + static_cast<int64_t>(block), block, 2.0);
  blocks[block] -= 1e-6;  // rounding makes it indefinite
  const std::vector<char> free(static_cast<size_t>(shape.num_parameters()), 1);
  const std::vector<double> v(free.size(), 1.0);
  for (const double x : RowBlocks(shape, blocks).On(free)(v)) EXPECT_TRUE(std::isfinite(x));
}

// What is common to all rows changes no probability: it is neither seen nor made.
TEST(RowBlocks, LeavesOutWhatIsCommonToAllRows) {
  const AffineShape shape{.space = AffineSpace::kRaw, .num_classes = kClasses};
  const auto n = static_cast<size_t>(shape.num_features());
  const std::vector<char> free(static_cast<size_t>(shape.num_parameters()), 1);
  const Product inverse = RowBlocks(shape, RandomBlocks(shape)).On(free);
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
