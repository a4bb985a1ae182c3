// SPDX-License-Identifier: Apache-2.0
// Derivatives and algebra of the affine family, for every space.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "methods/affine_evaluator.h"
#include "methods/affine_fit.h"
#include "methods/affine_objective.h"
#include "methods/affine_regularizer.h"
#include "methods/affine_sample.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

struct Family {
  const char* name;
  AffineShape shape;
};

std::string NameOfFamily(const ::testing::TestParamInfo<Family>& info) { return info.param.name; }

constexpr int64_t kClasses = 4;

const Family kFamilies[] = {
    {"raw", {.space = AffineSpace::kRaw, .num_classes = kClasses}},
    {"diagonal", {.space = AffineSpace::kRaw, .diagonal = true, .num_classes = kClasses}},
    {"differences", {.space = AffineSpace::kDifferences, .num_classes = kClasses}},
    {"log_probs", {.space = AffineSpace::kLogProbs, .num_classes = kClasses}},
    {"conditional",
     {.space = AffineSpace::kLogProbs, .per_decision = true, .num_classes = kClasses}},
    {"winner_gaps",
     {.space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = kClasses}},
    {"sorted_gaps",
     {.space = AffineSpace::kSortedGaps, .per_decision = true, .num_classes = kClasses}}};

class EveryAffineSpace : public ::testing::TestWithParam<Family> {
 protected:
  const AffineShape& shape() const { return GetParam().shape; }
  std::vector<double> RandomParameters(uint64_t seed) const {
    Rng rng(seed, 0);
    std::vector<double> p = ScaledIdentity(shape(), 0.7);
    for (double& x : p) x += 0.1 * (shape().gaps() ? rng.Uniform() : rng.Normal());
    return p;
  }
  // Of a diagonal map, scales and biases alone.
  bool IsFree(size_t parameter) const {
    const auto features = static_cast<size_t>(shape().num_features());
    const size_t column = parameter % features;
    return !shape().diagonal || column == parameter / features || column + 1 == features;
  }
  // The same number of sampled voxels for every expert.
  std::vector<int64_t> Sizes(int64_t size) const {
    return std::vector<int64_t>(static_cast<size_t>(shape().num_experts()), size);
  }
  ExpertParameters RandomMaps(uint64_t seed) const {
    ExpertParameters maps;
    for (int64_t e = 0; e < shape().num_experts(); ++e) {
      maps.push_back(RandomParameters(seed + static_cast<uint64_t>(e)));
    }
    return maps;
  }
};

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
      const std::vector<double> below = sample.Evaluate(e, low, 1).gradient;
      const std::vector<double> above = sample.Evaluate(e, high, 1).gradient;
      for (size_t j = 0; j < p.size(); ++j) {
        if (!IsFree(j)) continue;
        EXPECT_NEAR(hessian[i * p.size() + j] / n, (above[j] - below[j]) / (2 * h) / n, 3e-4)
            << i << ", " << j;
      }
    }
  }
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

TEST_P(EveryAffineSpace, BlocksAreThoseOfTheHessianWithoutTies) {
  const Scene scene = WithoutTies(RandomScene({.num_classes = kClasses}));
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const BlockLayout layout(shape());
  for (int64_t e = 0; e < shape().num_experts(); ++e) {
    const std::vector<double> p = RandomParameters(11);
    const std::vector<double> hessian = sample.Hessian(e, p, 1);
    const std::vector<double> blocks = sample.Blocks(e, p, 1.0, 2);
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
    EXPECT_EQ(blocks, sample.Blocks(e, p, 1.0, 1));
  }
}

// Where few parameters take part and few are wanted the rest is left out, to no difference.
TEST_P(EveryAffineSpace, SparseProductsAreThoseOfAllParameters) {
  if (shape().diagonal) GTEST_SKIP() << "it has its own products";
  const Scene scene = RandomScene({.num_classes = kClasses});
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const std::vector<double> p = RandomParameters(11);
  const std::vector<double> hessian = sample.Hessian(0, p, 1);
  std::vector<double> direction(p.size(), 0.0);
  std::vector<char> wanted(p.size(), 0);
  direction[1] = wanted[1] = 1;
  direction.back() = wanted.back() = 1;
  ASSERT_FALSE(PatternOf(shape(), wanted).columns.empty());
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

TEST(PatternOf, ListsTheColumnsOfGroupsOfRowsAndNothingWhereTheyAreMany) {
  const AffineShape shape{.space = AffineSpace::kRaw, .num_classes = 7};  // 7 rows, 8 features
  std::vector<char> wanted(static_cast<size_t>(shape.num_parameters()), 0);
  wanted[0 * 8 + 5] = wanted[3 * 8 + 2] = wanted[3 * 8 + 5] = wanted[6 * 8 + 7] = 1;
  const SparsePattern pattern = PatternOf(shape, wanted);
  EXPECT_EQ(pattern.begin, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(pattern.columns, (std::vector<int32_t>{2, 5, 7}));
  EXPECT_TRUE(PatternOf(shape, std::vector<char>(wanted.size(), 1)).begin.empty());
}

// Blocks of some of the voxels are scaled to all.
TEST_P(EveryAffineSpace, BlocksOfAShareStandForAllVoxels) {
  const Scene scene = RandomScene({.num_classes = kClasses, .shape = {160, 160}});
  const auto stream = scene.Stream(1);
  const ExpertSample sample(*stream, {}, shape(), ConfusionOf(*stream), Sizes(1 << 20), 1);
  const std::vector<double> p = RandomParameters(11);
  const std::vector<double> all = sample.Blocks(0, p, 1.0, 1);
  const std::vector<double> some = sample.Blocks(0, p, 0.3, 1);
  EXPECT_NE(all, some);
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
    EXPECT_NEAR(everything.Evaluate(expert, maps[e], 2).loss / exact[e].loss, 1.0, 1e-6);
    EXPECT_NEAR(some.weight(expert) / exact[e].count, 1.0, 0.1);
    EXPECT_NEAR(some.Evaluate(expert, maps[e], 2).loss / exact[e].loss, 1.0, 0.15);
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

const Penalty kPenalty{.lambda = 0.3, .mu = 0.2, .kappa = 0.05, .anchor = 0.8};

TEST_P(EveryAffineSpace, PenaltyHasTheGradientAndHessianOfItsValue) {
  const AffineRegularizer regularizer(shape(), kPenalty);
  const std::vector<double> p = RandomParameters(13);
  const Value here = regularizer.Evaluate(p);
  const std::vector<double> hessian = regularizer.Hessian();
  const double h = 1e-4;
  for (size_t i = 0; i < p.size(); ++i) {
    std::vector<double> low = p;
    std::vector<double> high = p;
    low[i] -= h;
    high[i] += h;
    const Value below = regularizer.Evaluate(low);
    const Value above = regularizer.Evaluate(high);
    EXPECT_NEAR(here.gradient[i], (above.value - below.value) / (2 * h), 1e-9);
    for (size_t j = 0; j < p.size(); ++j) {
      EXPECT_NEAR(
          hessian[i * p.size() + j], (above.gradient[j] - below.gradient[j]) / (2 * h), 1e-9);
    }
  }
}

TEST_P(EveryAffineSpace, PenaltyHasTheProductsAndFactorsOfItsHessian) {
  if (shape().diagonal) GTEST_SKIP() << "its gauge is held, which the factors do not know";
  Penalty penalty = kPenalty;
  penalty.lambda = 0.0;  // all weights are held alike
  const AffineRegularizer regularizer(shape(), penalty);
  const std::vector<double> hessian = regularizer.Hessian();
  const std::vector<double> direction = RandomParameters(19);
  const std::vector<double> product = regularizer.Product(direction);
  const std::vector<double> of_features = regularizer.FeatureCurvature();
  const auto features = static_cast<size_t>(shape().num_features());
  for (size_t i = 0; i < direction.size(); ++i) {
    double expected = 0.0;
    for (size_t j = 0; j < direction.size(); ++j)
      expected += hessian[i * direction.size() + j] * direction[j];
    EXPECT_NEAR(product[i], expected, 1e-12);
    for (size_t j = 0; j < direction.size(); ++j) {
      const double of_rows = regularizer.RowCurvature(static_cast<int64_t>(i / features),
                                                      static_cast<int64_t>(j / features));
      EXPECT_NEAR(of_rows * of_features[i % features * features + j % features],
                  hessian[i * direction.size() + j],
                  1e-12);
    }
  }
}

// The gauge (A5) is a minimum: no other shift of a column or of the bias costs less.
TEST_P(EveryAffineSpace, PenaltyTakesTheBestGauge) {
  const AffineRegularizer regularizer(shape(), kPenalty);
  const std::vector<double> p = RandomParameters(17);
  const AffineRegularizer::Assembled map = regularizer.Assemble(p);
  const double n = kClasses;
  const auto cost = [&](size_t column, double shift, double bias_shift) {
    double value = 0.0;
    for (size_t j = 0; j < kClasses; ++j) {
      for (size_t k = 0; k < kClasses; ++k) {
        const double w = map.weights[j * kClasses + k] + (k == column ? shift : 0.0);
        const double d = j == k ? w - kPenalty.anchor : w;
        value += kPenalty.kappa * d * d;
        if (j != k) value += kPenalty.lambda / (n * (n - 1)) * w * w;
      }
      const double b = map.bias[j] + bias_shift;
      value += (kPenalty.mu / n + kPenalty.kappa) * b * b;
    }
    return value;
  };
  EXPECT_NEAR(regularizer.Evaluate(p).value, cost(0, 0.0, 0.0), 1e-12);
  for (const double shift : {-0.01, 0.01}) {
    EXPECT_GT(cost(0, 0.0, shift), cost(0, 0.0, 0.0));
    if (shape().diagonal) continue;
    for (size_t k = 0; k < kClasses; ++k) EXPECT_GT(cost(k, shift, 0.0), cost(k, 0.0, 0.0));
  }
}

// (A8): the smallest curvature of the penalty that is not that of a gauge is no less than stated.
TEST_P(EveryAffineSpace, PenaltyIsAsConvexAsStated) {
  if (shape().diagonal) GTEST_SKIP() << "the weights off the diagonal are fixed";
  for (const double lambda : {0.0, 0.3}) {
    Penalty penalty = kPenalty;
    penalty.lambda = penalty.mu = lambda;
    const AffineRegularizer regularizer(shape(), penalty);
    const auto n = static_cast<Eigen::Index>(shape().num_parameters());
    const std::vector<double> h = regularizer.Hessian();
    const Eigen::Map<const Eigen::MatrixXd> hessian(h.data(), n, n);
    const Eigen::VectorXd eigenvalues =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(hessian).eigenvalues();
    double least = 1e300;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (eigenvalues[i] > 1e-12) least = std::min(least, eigenvalues[i]);
    }
    EXPECT_GE(least, regularizer.Convexity() * (1.0 - 1e-9));
    if (lambda == 0.0) {
      EXPECT_NEAR(least, regularizer.Convexity(), 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spaces, EveryAffineSpace, ::testing::ValuesIn(kFamilies), NameOfFamily);

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
