// SPDX-License-Identifier: Apache-2.0
// Derivatives and algebra of the affine family, for every space.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "methods/affine/affine_evaluator.h"
#include "methods/affine/affine_fit.h"
#include "methods/affine/affine_for_test.h"
#include "methods/affine/affine_objective.h"
#include "methods/affine/affine_sample.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

class EveryAffineSpace : public AffineSpaceTest {};
class EveryFullAffineSpace : public AffineSpaceTest {};

// [decision][label] of the labelled voxels.
std::vector<int64_t> ConfusionOf(const CaseStream& stream) {
  std::vector<int64_t> confusion(kClasses * kClasses, 0);
  TileBuffer buffer;
  stream.ForEachBlock("count", [&](VoxelBlock& block, int64_t, int) {
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile tile = block.PoolTileInto(t, {}, &buffer);
      for (int64_t v = 0; v < tile.count; ++v) {
        if (tile.labels[v] == kNoLabel) continue;
        ++confusion[static_cast<size_t>(tile.decision[v] * kClasses + tile.labels[v])];
      }
    }
  });
  return confusion;
}

TEST_P(EveryAffineSpace, GradientMatchesFiniteDifferences) {
  const Scene scene = RandomScene({.num_classes = kClasses});
  const auto stream = scene.Stream(2);
  ExpertParameters maps = RandomMaps(3);
  const auto loss = [&](const ExpertParameters& p) {
    return AffinePass(*stream, "test", {}, shape(), p);
  };
  const std::vector<ExpertSums> here = loss(maps);
  const double h = 2e-3;
  for (size_t i = 0; i < maps[0].size(); ++i) {
    ExpertParameters low = maps;
    ExpertParameters high = maps;
    for (size_t e = 0; e < maps.size(); ++e) {
      low[e][i] -= h;
      high[e][i] += h;
    }
    const std::vector<ExpertSums> below = loss(low);
    const std::vector<ExpertSums> above = loss(high);
    for (size_t e = 0; e < maps.size(); ++e) {
      const double n = std::max(1.0, here[e].count);
      EXPECT_NEAR(here[e].gradient[i] / n, (above[e].loss - below[e].loss) / (2 * h) / n, 5e-5)
          << "expert " << e << " parameter " << i;
    }
  }
}

TEST_P(EveryAffineSpace, HessianMatchesDifferencesOfTheGradient) {
  const Scene scene = RandomScene({.num_classes = kClasses});
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  for (int64_t e = 0; e < shape().num_experts(); ++e) {
    const std::vector<double> p = RandomParameters(11);
    const std::vector<double> hessian = sample.Hessian(e, p, 2);
    const double n = sample.weight(e);
    const double h = 2e-3;
    for (size_t i = 0; i < p.size(); ++i) {
      if (!IsFree(i)) continue;
      std::vector<double> low = p;
      std::vector<double> high = p;
      low[i] -= h;
      high[i] += h;
      const std::vector<double> below = sample.Evaluate(e, low, /*exact=*/true, 1).gradient;
      const std::vector<double> above = sample.Evaluate(e, high, /*exact=*/true, 1).gradient;
      for (size_t j = 0; j < p.size(); ++j) {
        if (!IsFree(j)) continue;
        EXPECT_NEAR(hessian[i * p.size() + j] / n, (above[j] - below[j]) / (2 * h) / n, 3e-4)
            << i << ", " << j;
      }
    }
  }
}

// Double arithmetic is nearer, not another function; a loss alone is that of the sums.
TEST_P(EveryAffineSpace, SumsInDoubleAreThoseInFloatWithoutTheRounding) {
  const Scene scene = RandomScene({.num_classes = kClasses});
  const auto stream = scene.Stream(2);
  const ExpertParameters maps = RandomMaps(5);
  const std::vector<ExpertSums> rounded = AffinePass(*stream, "test", {}, shape(), maps);
  const std::vector<ExpertSums> exact =
      AffinePass(*stream, "test", {}, shape(), maps, std::vector<char>(maps.size(), 1));
  double loss = 0.0;
  for (size_t e = 0; e < maps.size(); ++e) {
    EXPECT_EQ(exact[e].count, rounded[e].count);
    EXPECT_NEAR(exact[e].loss, rounded[e].loss, 1e-5 * exact[e].count);
    for (size_t i = 0; i < maps[e].size(); ++i)
      EXPECT_NEAR(exact[e].gradient[i], rounded[e].gradient[i], 1e-4 * exact[e].count) << i;
    loss += exact[e].loss;
  }
  const LossTotal total = TotalLoss(*stream, {}, shape(), maps);
  EXPECT_NEAR(total.loss, loss, 1e-5 * total.voxels);
}

// What stands for a Hessian that is too large agrees with it where it is not.
TEST_P(EveryAffineSpace, ProductsAreThoseOfTheHessian) {
  const Scene scene = RandomScene({.num_classes = kClasses});
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const std::vector<char> all(static_cast<size_t>(shape().num_parameters()), 1);
  for (int64_t e = 0; e < shape().num_experts(); ++e) {
    const std::vector<double> p = RandomParameters(11);
    std::vector<double> direction = RandomParameters(12);
    for (size_t i = 0; i < p.size(); ++i) direction[i] = IsFree(i) ? direction[i] : 0.0;
    const std::vector<double> hessian = sample.Hessian(e, p, 1);
    const std::vector<double> product = sample.Product(e, p, direction, all, 2);
    const double n = sample.weight(e);
    for (size_t i = 0; i < p.size(); ++i) {
      if (!IsFree(i)) continue;
      double expected = 0.0;
      for (size_t j = 0; j < p.size(); ++j) expected += hessian[i * p.size() + j] * direction[j];
      EXPECT_NEAR(product[i] / n, expected / n, 2e-5) << i;
    }
    EXPECT_EQ(product, sample.Product(e, p, direction, all, 1));
  }
}

constexpr int64_t kAllVoxels = int64_t{1} << 20;

TEST_P(EveryAffineSpace, BlocksAreThoseOfTheHessianWithoutTies) {
  const Scene scene = WithoutTies(RandomScene({.num_classes = kClasses}));
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const BlockLayout layout(shape());
  for (int64_t e = 0; e < shape().num_experts(); ++e) {
    const std::vector<double> p = RandomParameters(11);
    const std::vector<double> hessian = sample.Hessian(e, p, 1);
    const std::vector<double> blocks = sample.Blocks(e, p, 1.0, kAllVoxels, 2);
    const double n = sample.weight(e);
    auto entry = blocks.begin();
    for (int64_t b = 0; b < layout.num_blocks; ++b) {
      for (int64_t i = 0; i < layout.size * layout.size; ++i, ++entry) {
        const auto row = static_cast<size_t>(layout.Parameter(b, i / layout.size));
        const auto column = static_cast<size_t>(layout.Parameter(b, i % layout.size));
        if (!IsFree(row) || !IsFree(column)) continue;
        EXPECT_NEAR(*entry / n, hessian[row * p.size() + column] / n, 1e-5) << b << ", " << i;
      }
    }
    EXPECT_EQ(blocks, sample.Blocks(e, p, 1.0, kAllVoxels, 1));
  }
}

// Where few parameters take part and few are wanted the rest is left out, to no difference.
TEST_P(EveryFullAffineSpace, SparseProductsAreThoseOfAllParameters) {
  const Scene scene = RandomScene({.num_classes = kClasses});
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const std::vector<double> p = RandomParameters(11);
  const std::vector<double> hessian = sample.Hessian(0, p, 1);
  std::vector<double> direction(p.size(), 0.0);
  std::vector<char> wanted(p.size(), 0);
  direction[1] = wanted[1] = 1;
  direction.back() = wanted.back() = 1;
  ASSERT_FALSE(MakePattern(shape(), wanted).columns.empty());
  const std::vector<double> some = sample.Product(0, p, direction, wanted, 1);
  const std::vector<double> all =
      sample.Product(0, p, direction, std::vector<char>(p.size(), 1), 1);
  const double n = sample.weight(0);
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = hessian[i * p.size() + 1] + hessian[(i + 1) * p.size() - 1];
    EXPECT_NEAR(all[i] / n, expected / n, 2e-5) << i;
    if (wanted[i] != 0) {
      EXPECT_EQ(some[i], all[i]);
    }
  }
  EXPECT_NE(all[0], 0.0);
  EXPECT_EQ(some[0], 0.0);
}

TEST(MakePattern, ListsTheColumnsOfGroupsOfRowsAndNothingWhereTheyAreMany) {
  const AffineShape shape{.space = AffineSpace::kRaw, .num_classes = 7};  // 7 rows, 8 features
  std::vector<char> wanted(static_cast<size_t>(shape.num_parameters()), 0);
  wanted[0 * 8 + 5] = wanted[3 * 8 + 2] = wanted[3 * 8 + 5] = wanted[6 * 8 + 7] = 1;
  const SparsePattern pattern = MakePattern(shape, wanted);
  EXPECT_EQ(pattern.begin, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(pattern.columns, (std::vector<int32_t>{2, 5, 7}));
  EXPECT_TRUE(MakePattern(shape, std::vector<char>(wanted.size(), 1)).begin.empty());
}

// Blocks of a few of the voxels are about those of all. Diagonal maps, which have few parameters,
// take all.
TEST_P(EveryAffineSpace, BlocksOfSomeVoxelsStandForAll) {
  const Scene scene = RandomScene({.num_classes = kClasses, .shape = {160, 160}});
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const std::vector<double> p = RandomParameters(11);
  const std::vector<double> all = sample.Blocks(0, p, 1.0, kAllVoxels, 1);
  const std::vector<double> some = sample.Blocks(0, p, 1.0, 2000, 1);
  EXPECT_EQ(all == some, shape().diagonal);
  const double largest = *std::max_element(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(some[i], all[i], 0.15 * largest) << i;
}

// A sample that holds everything gives the sums of a pass; one that does not stands for all voxels.
TEST_P(EveryAffineSpace, SampleStandsForAllVoxels) {
  const Scene scene = RandomScene({.num_classes = kClasses, .shape = {100, 120}});
  const auto stream = scene.Stream(2);
  const std::vector<int64_t> confusion = ConfusionOf(*scene.Stream(1));
  const ExpertSample everything(*stream, {}, shape(), confusion, Sizes(1 << 20), 1);
  const ExpertSample some(*stream, {}, shape(), confusion, Sizes(1500), 1);
  const ExpertParameters maps = RandomMaps(5);
  const std::vector<ExpertSums> exact = AffinePass(*stream, "test", {}, shape(), maps);
  for (size_t e = 0; e < maps.size(); ++e) {
    const auto expert = static_cast<int64_t>(e);
    EXPECT_DOUBLE_EQ(everything.weight(expert), exact[e].count);
    EXPECT_NEAR(everything.Evaluate(expert, maps[e], false, 2).loss / exact[e].loss, 1.0, 1e-6);
    EXPECT_NEAR(some.weight(expert) / exact[e].count, 1.0, 0.1);
    EXPECT_NEAR(some.Evaluate(expert, maps[e], false, 2).loss / exact[e].loss, 1.0, 0.15);
  }
}

TEST_P(EveryAffineSpace, SumsAreTheSameBitsForAnyNumberOfThreads) {
  const Scene scene = RandomScene({.num_classes = kClasses, .shape = {90, 100}});
  const ExpertParameters maps = RandomMaps(7);
  const auto one = AffinePass(*scene.Stream(1), "test", {}, shape(), maps);
  const auto many = AffinePass(*scene.Stream(5), "test", {}, shape(), maps);
  for (size_t e = 0; e < maps.size(); ++e) {
    EXPECT_EQ(one[e].loss, many[e].loss);
    EXPECT_EQ(one[e].gradient, many[e].gradient);
  }
  const std::vector<int64_t> confusion = ConfusionOf(*scene.Stream(1));
  const ExpertSample a(*scene.Stream(1), {}, shape(), confusion, Sizes(500), 1);
  const ExpertSample b(*scene.Stream(4), {}, shape(), confusion, Sizes(500), 1);
  EXPECT_EQ(a.Hessian(0, maps[0], 1), b.Hessian(0, maps[0], 3));
}

INSTANTIATE_TEST_SUITE_P(Spaces, EveryAffineSpace, ::testing::ValuesIn(kFamilies), NameOfFamily);
INSTANTIATE_TEST_SUITE_P(Spaces,
                         EveryFullAffineSpace,
                         ::testing::ValuesIn(FullFamilies()),
                         NameOfFamily);

// Kirscher et al. 2026, App. A.2: for any global affine map that is no temperature there are logits
// whose argmax it changes. They are found where the proof looks: far out, near a tie.
TEST(CollapseTheorem, GlobalMapsOtherThanTemperaturesFlipSomewhere) {
  constexpr size_t n = 4;
  Rng rng(1, 0);
  const auto flips = [&](const std::vector<double>& w, const std::vector<double>& b) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        for (size_t k = 0; k < n && j != i; ++k) {
          for (const double far : {1e3, 1e6}) {
            std::vector<double> z(n, -far);
            z[i] = 1e-9 * far + (k == i || k == j ? far : 0.0);
            z[j] = z[i] - 1e-9 * far;
            if (k != i && k != j) z[k] = -2.0 * far;
            const auto score = [&](size_t c) {
              double s = b[c];
              for (size_t l = 0; l < n; ++l) s += w[c * n + l] * z[l];
              return s;
            };
            if (score(j) > score(i)) return true;
          }
        }
      }
    }
    return false;
  };
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> temperature(n * n, 0.0);
    std::vector<double> column(n);
    for (double& c : column) c = rng.Normal();
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < n; ++k) temperature[j * n + k] = column[k] + (j == k ? 0.5 : 0.0);
    }
    EXPECT_FALSE(flips(temperature, std::vector<double>(n, 0.3)));
    std::vector<double> other = temperature;
    other[static_cast<size_t>(rng.Below(n * n))] += trial % 2 == 0 ? 1e-3 : -1e-3;
    EXPECT_TRUE(flips(other, std::vector<double>(n, 0.3))) << trial;
  }
}

}  // namespace
}  // namespace segcal
